package engine

import "metaqda/core/model"

// compare tells whether what a file holds was made with the extractor here.
// Another network is an error; other files of the same one give a notice, since
// their numbers may differ a little. Where either side does not say what it is,
// the file is taken. made says what the file is and how it came to be, remedy
// what to do with one of another network.
func compare(file, here model.Extractor, made, remedy string) (notice string, err error) {
	switch {
	case file.ID != "" && here.ID != "" && file.ID != here.ID:
		return "", fail("extractor", made+" the feature extractor “"+file.ID+"”, and this page uses “"+here.ID+"”, whose numbers mean other things. "+remedy)
	case file.SHA256 != "" && here.SHA256 != "" && file.SHA256 != here.SHA256:
		return made + " other files of the feature extractor (sha256 " + short(file.SHA256) + ") than this page uses (" + short(here.SHA256) +
			"): should its answers surprise you, teach a few of the pictures anew.", nil
	}
	return "", nil
}
