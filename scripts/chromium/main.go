// Command chromium prints the path of a Chromium or Chrome that can be run, for
// the browser tests, with -firefox that of a Firefox, or with -webkit that of the
// driver of WebKitGTK. It looks at the variable CHROMIUM, FIREFOX or WEBKIT, at the
// usual names in the path and at the usual places of
// macOS and Windows. With -install it installs Debian's package where there is none
// and apt-get can be had as root or by a sudo that asks for no password.
//
//	CHROMIUM=$(go run ./scripts/chromium -install)
//	FIREFOX=$(go run ./scripts/chromium -firefox -install)
//	WEBKIT=$(go run ./scripts/chromium -webkit -install)
//
// Only the path goes to standard output. Exit status 1 means that there is none
// after all; what to do about it is said on standard error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	install := flag.Bool("install", false, "install Debian's package where no browser is found")
	firefox := flag.Bool("firefox", false, "look for a Firefox")
	webkit := flag.Bool("webkit", false, "look for the driver of WebKitGTK")
	flag.Parse()
	k := &chromiums
	if *firefox {
		k = &firefoxes
	}
	if *webkit {
		k = &webkits
	}
	s := system{kind: k, getenv: os.Getenv, lookPath: exec.LookPath, goos: runtime.GOOS, run: runCommand, works: k.works, root: os.Geteuid() == 0, log: os.Stderr}
	path, err := s.browser(*install)
	if err != nil {
		fmt.Fprintf(os.Stderr, "chromium: %v\n", err)
		os.Exit(1)
	}
	fmt.Println(path)
}

// A kind is a browser that is looked for.
type kind struct {
	name     string   // as people say it
	variable string   // of the environment, that names one
	packaged string   // Debian's names of it and of what it needs
	names    []string // of programs
	mac      []string // places on macOS
	windows  string   // its place in each folder of programs
	asked    string   // how it is asked what it is
	calls    string   // what it calls itself then
}

var chromiums = kind{
	name: "Chromium or Chrome", variable: "CHROMIUM", packaged: "chromium", asked: "--version", calls: "Chrom",
	names:   []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"},
	mac:     []string{"/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"},
	windows: `\Google\Chrome\Application\chrome.exe`,
}

var firefoxes = kind{
	name: "Firefox", variable: "FIREFOX", packaged: "firefox-esr", asked: "--version", calls: "Firefox",
	names:   []string{"firefox-esr", "firefox"},
	mac:     []string{"/Applications/Firefox.app/Contents/MacOS/firefox"},
	windows: `\Mozilla Firefox\firefox.exe`,
}

// The browser that WebKitGTK's driver starts needs a screen: Xvfb is one.
var webkits = kind{
	name: "WebKitGTK", variable: "WEBKIT", packaged: "webkit2gtk-driver xvfb xauth", asked: "--help", calls: "WebKitWebDriver",
	names: []string{"WebKitWebDriver"},
}

// A system is the machine as this command sees it; tests put another in place.
type system struct {
	*kind
	getenv   func(string) string
	lookPath func(string) (string, error)
	goos     string
	run      func(log io.Writer, name string, args ...string) error
	works    func(path string) error // whether the program at path is a browser that starts
	root     bool
	log      io.Writer
}

// errNone means that the machine has no browser.
var errNone = errors.New("none found")

// browser finds a browser, installing one if asked to and possible.
func (s *system) browser(install bool) (string, error) {
	path, err := s.find()
	if !errors.Is(err, errNone) || !install {
		return path, s.advise(err)
	}
	if err := s.aptInstall(); err != nil {
		return "", s.advise(err)
	}
	path, err = s.find()
	return path, s.advise(err)
}

// find returns the first browser that starts. A browser named by the variable
// the environment must start: it is not passed over in silence.
func (s *system) find() (string, error) {
	if named := s.getenv(s.variable); named != "" {
		path, err := s.lookPath(named)
		if err == nil {
			err = s.works(path)
		}
		if err != nil {
			return "", fmt.Errorf("the variable %s names %s, which does not start (%w)", s.variable, named, err)
		}
		return path, nil
	}
	for _, candidate := range s.candidates() {
		if path, err := s.lookPath(candidate); err == nil && s.works(path) == nil {
			return path, nil
		}
	}
	return "", errNone
}

// candidates are the names and places to look at, in this order.
func (s *system) candidates() []string {
	names := slices.Clone(s.names)
	switch s.goos {
	case "darwin":
		return append(names, s.mac...)
	case "windows":
		for _, variable := range []string{"ProgramFiles", "ProgramFiles(x86)", "LocalAppData"} {
			names = append(names, s.getenv(variable)+s.windows)
		}
	}
	return names
}

// aptInstall installs Debian's package of the browser, and fonts, without which a page has
// no text.
func (s *system) aptInstall() error {
	if _, err := s.lookPath("apt-get"); err != nil {
		return errNone
	}
	prefix := []string{"env", "DEBIAN_FRONTEND=noninteractive"}
	if !s.root {
		if s.run(io.Discard, "sudo", "-n", "true") != nil {
			return errNone
		}
		prefix = append([]string{"sudo", "-n"}, prefix...)
	}
	fmt.Fprintf(s.log, "chromium: no %s found, installing Debian's package with apt-get (a few minutes)\n", s.name)
	install := append([]string{"apt-get", "install", "-q", "-y", "--no-install-recommends", "fonts-liberation"}, strings.Fields(s.packaged)...)
	for _, step := range [][]string{{"apt-get", "update", "-q"}, install} {
		command := append(prefix[:len(prefix):len(prefix)], step...)
		if err := s.run(s.log, command[0], command[1:]...); err != nil {
			return fmt.Errorf("'%s' failed: %w", strings.Join(step, " "), err)
		}
	}
	return nil
}

// advise adds the remedy to an error.
func (s *system) advise(err error) error {
	if err == nil {
		return nil
	}
	how := "install it"
	switch s.goos {
	case "linux":
		how = fmt.Sprintf("install it, for example with 'sudo apt-get install %s'", s.packaged)
	case "darwin":
		how = "install it in Applications"
	}
	return fmt.Errorf("%s: %w: %s, or name one: %s=/path/to/it make test", s.name, err, how, s.variable)
}

// works reports whether the program at path says that it is a browser of this
// kind. (Ubuntu's chromium-browser may be a script that only tells how to get
// the real one.) On Windows a browser asked what it is opens a window instead, so there the file is taken at its name.
func (k *kind) works(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, k.asked).Output()
	if err != nil {
		return fmt.Errorf("%s %s: %w", path, k.asked, err)
	}
	if !strings.Contains(string(out), k.calls) {
		return fmt.Errorf("%s %s says %q, not a %s", path, k.asked, out, k.name)
	}
	return nil
}

// runCommand runs a command with its output on log.
func runCommand(log io.Writer, name string, args ...string) error {
	command := exec.Command(name, args...)
	command.Stdout, command.Stderr = log, log
	return command.Run()
}
