package output

import (
	"fmt"
	"io"
	"os"
)

// Progress returns a function that shows how far the work is, or nil when
// nobody looks: stderr is no terminal.
func Progress(stderr io.Writer) func(what string, done, total int) {
	f, ok := stderr.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return func(what string, done, total int) {
		if done == total {
			fmt.Fprintf(f, "\r\x1b[K")
			return
		}
		if step := max(total/100, 1); done%step == 0 {
			fmt.Fprintf(f, "\r%s: %d of %d\x1b[K", what, done, total)
		}
	}
}
