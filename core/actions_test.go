package metaqda

import (
	"strings"
	"testing"

	"metaqda/core/model"
	"metaqda/core/test"
)

func actionsOf(t *testing.T, c *Classifier, label string) string {
	t.Helper()
	if label == "" {
		return c.Actions()
	}
	k, ok := c.Find(label)
	if !ok {
		t.Fatalf("there is no class %q", label)
	}
	return k.Actions
}

func TestActionsAreUndoneAndKept(t *testing.T) {
	c := fresh(t, Settings{NonePrior: 0.1})
	test.Must(c.Add("cup", "", []float32{1, 2}))(t)
	test.Must(c.Add("pot", "", []float32{2, 1}))(t)
	want := map[string]string{"cup": "say cup", "": "say nothing", "pot": ""}
	check := func(when string, c *Classifier) {
		t.Helper()
		for label, text := range want {
			if got := actionsOf(t, c, label); got != text {
				t.Errorf("%s, %q has the actions %q, want %q", when, label, got, text)
			}
		}
	}
	for _, label := range []string{"cup", ""} {
		if err := c.SetActions(label, want[label]); err != nil {
			t.Fatal(err)
		}
	}
	check("set", c)
	if undo, _ := c.Next(); undo != "change of what happens when it sees None of these" {
		t.Errorf("the step is called %q", undo)
	}
	if err := c.SetActions("cup", "say cup"); err != nil {
		t.Fatal(err)
	}
	if undo, _ := c.Steps(); len(undo) != 4 {
		t.Errorf("setting the same is a step: there are %d", len(undo))
	}

	test.Must(c.Undo())(t)
	test.Must(c.Undo())(t)
	kept := want
	want = map[string]string{"cup": "", "": "", "pot": ""}
	check("undone", c)
	test.Must(c.Redo())(t)
	test.Must(c.Redo())(t)
	want = kept
	check("done again", c)

	if err := c.RenameClass("cup", "mug"); err != nil {
		t.Fatal(err)
	}
	want = map[string]string{"mug": "say cup", "": "say nothing", "pot": ""}
	check("renamed", c)
	if err := c.RemoveClass("mug"); err != nil {
		t.Fatal(err)
	}
	test.Must(c.Undo())(t)
	check("removed and brought back", c)

	check("copied", test.Must(c.Clone())(t))
	check("opened from a file", test.Must(Open(test.Must(c.Save())(t)))(t))
	other := fresh(t, Settings{})
	test.Must(other.Add("mug", "", []float32{1, 3}))(t)
	test.Must(other.Add("pot", "", []float32{2, 2}))(t)
	for _, label := range []string{"mug", "pot"} {
		if err := other.SetActions(label, "say other"); err != nil {
			t.Fatal(err)
		}
	}
	want["pot"] = "say other"
	check("merged", test.Must(Merge(c, other))(t))
}

// A step undone out of its order takes back its own change alone.
func TestActionsAndNamesAreStepsOfTheirOwn(t *testing.T) {
	c := fresh(t, Settings{})
	test.Must(c.AddClass("cup"))(t)
	if err := c.RenameClass("cup", "mug"); err != nil {
		t.Fatal(err)
	}
	steps, _ := c.Steps()
	if err := c.SetActions("mug", "say mug"); err != nil {
		t.Fatal(err)
	}
	test.Must(c.UndoStep(steps[0].ID))(t)
	if got := actionsOf(t, c, "cup"); got != "say mug" {
		t.Errorf("undoing the name changed the actions to %q", got)
	}
}

func TestActionsThatAreTooLongAreRefused(t *testing.T) {
	c := fresh(t, Settings{})
	test.Must(c.AddClass("cup"))(t)
	long := strings.Repeat("x", model.MaxActions)
	for _, text := range []string{long + "x", "\xff"} {
		if err := c.SetActions("cup", text); Code(err) != "limit" || actionsOf(t, c, "cup") != "" {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	if err := c.SetActions("pot", ""); Code(err) != "label" {
		t.Errorf("a class that is not there: %v", err)
	}
	for i := range model.MaxAllActions / model.MaxActions {
		label := "class " + strings.Repeat("i", i+1)
		test.Must(c.AddClass(label))(t)
		if err := c.SetActions(label, long); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.SetActions("", "x"); Code(err) != "limit" {
		t.Errorf("more than a file holds: %v", err)
	}
	if err := c.SetActions("class i", "y"); err != nil {
		t.Errorf("shorter ones in their place: %v", err)
	}
	if err := c.SetActions("class i", long); err != nil {
		t.Errorf("as long ones as before: %v", err)
	}
	test.OK(t, c.SetActions("class i", long[1:]))
	test.OK(t, c.SetActions("class ii", long[1:]))
	if err := c.SetActions("class i", "y"+long[1:]); err != nil {
		t.Errorf("longer ones, of which all are not too long: %v", err)
	}
}

// The header of a file has texts as JSON within JSON, where some characters take four bytes.
func TestAFileThatNobodyReadsIsNotWritten(t *testing.T) {
	c := fresh(t, Settings{})
	quotes := strings.Repeat(`"`, model.MaxActions)
	for i := range model.MaxAllActions / model.MaxActions {
		if b, err := c.Save(); err == nil {
			test.Must(Open(b))(t)
		} else if Code(err) != "limit" {
			t.Error(err)
		}
		label := "class " + strings.Repeat("i", i+1)
		test.Must(c.AddClass(label))(t)
		test.OK(t, c.SetActions(label, quotes))
	}
	if _, err := c.Save(); Code(err) != "limit" {
		t.Errorf("too long: %v", err)
	}
}

// A merged classifier has the actions of the second one where the first has none.
func TestMergeKeepsActions(t *testing.T) {
	withActions := func(none, cup string) *Classifier {
		c := fresh(t, Settings{})
		test.Must(c.AddClass("cup"))(t)
		test.OK(t, c.SetActions("", none))
		test.OK(t, c.SetActions("cup", cup))
		return c
	}
	for _, c := range []struct{ first, second, want string }{{"", "beep", "beep"}, {"flash", "beep", "flash"}, {"flash", "", "flash"}} {
		m := test.Must(Merge(withActions(c.first, c.first), withActions(c.second, c.second)))(t)
		if none, cup := m.Actions(), m.Classes()[0].Actions; none != c.want || cup != c.want {
			t.Errorf("%q and %q: none of these has %q, its class %q, want %q", c.first, c.second, none, cup, c.want)
		}
	}
}
