package model

import "golang.org/x/text/unicode/norm"

func init() { Compose = norm.NFC.String }
