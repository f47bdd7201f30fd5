//go:build !js

package model

import "golang.org/x/text/unicode/norm"

func init() { SetCompose(norm.NFC.String, norm.NFKC.String) }
