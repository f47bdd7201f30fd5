package engine

import "metaqda/wasm/nfc"

func init() { nfc.Install() }
