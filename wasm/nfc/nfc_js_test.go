package nfc

import (
	"testing"

	"metaqda/core/model"
)

func TestComposeIsThatOfUnicode(t *testing.T) {
	Install()
	for name, want := range map[string]string{
		"cup": "cup", "Cafe\u0301": "Caf\u00e9", "\u1100\u1161": "\uac00", "\u212b": "\u00c5", "e\u0323\u0302": "\u1ec7", "\U0001f34c": "\U0001f34c",
	} {
		if got := form("NFC")(name); got != want {
			t.Errorf("%+q became %+q, want %+q", name, got, want)
		}
	}
	if got, err := model.CleanLabel(" Cafe\u0301 "); err != nil || got != "Caf\u00e9" {
		t.Errorf("a label became %+q, %v", got, err)
	}
}
