//go:build !js

package model

import "golang.org/x/text/unicode/norm"

func init() { compose = norm.NFC.String }
