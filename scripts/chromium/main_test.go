package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fake is a machine with the named programs; the commands it runs are noted.
type fake struct {
	programs []string
	broken   []string // programs that do not start
	failing  string   // a command whose words contain this fails
	ran      []string
}

func (f *fake) system(goos string, root bool, variables map[string]string) *system {
	return &system{
		kind:   &chromiums,
		getenv: func(name string) string { return variables[name] },
		lookPath: func(name string) (string, error) {
			if slices.Contains(f.programs, name) {
				return "found:" + name, nil
			}
			return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
		},
		goos: goos,
		run: func(_ io.Writer, name string, args ...string) error {
			line := strings.Join(append([]string{name}, args...), " ")
			f.ran = append(f.ran, line)
			if f.failing != "" && strings.Contains(line, f.failing) {
				return errors.New("exit status 1")
			}
			if strings.HasSuffix(line, " chromium") {
				f.programs = append(f.programs, "chromium")
			}
			return nil
		},
		works: func(path string) error {
			if slices.Contains(f.broken, strings.TrimPrefix(path, "found:")) {
				return errors.New("does not start")
			}
			return nil
		},
		root: root,
		log:  io.Discard,
	}
}

func TestTheFirstBrowserThatStartsIsTaken(t *testing.T) {
	for _, c := range []struct {
		name      string
		machine   fake
		goos      string
		variables map[string]string
		want      string
	}{
		{"Debian", fake{programs: []string{"chromium", "google-chrome"}}, "linux", nil, "found:chromium"},
		{"stub", fake{programs: []string{"chromium-browser", "google-chrome"}, broken: []string{"chromium-browser"}}, "linux", nil, "found:google-chrome"},
		{"named", fake{programs: []string{"chromium", "/opt/mine"}}, "linux", map[string]string{"CHROMIUM": "/opt/mine"}, "found:/opt/mine"},
		{"macOS", fake{programs: []string{"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"}}, "darwin", nil, "found:/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"},
		{"Windows", fake{programs: []string{`P\Google\Chrome\Application\chrome.exe`}}, "windows", map[string]string{"ProgramFiles": "P"}, `found:P\Google\Chrome\Application\chrome.exe`},
	} {
		got, err := c.machine.system(c.goos, false, c.variables).browser(true)
		if err != nil || got != c.want || len(c.machine.ran) > 0 {
			t.Errorf("%s: %q, %v after %v, want %q", c.name, got, err, c.machine.ran, c.want)
		}
	}
}

func TestABrokenNamedBrowserIsAnErrorNotAGuess(t *testing.T) {
	for _, machine := range []fake{{programs: []string{"chromium", "apt-get"}}, {programs: []string{"chromium", "apt-get", "mine"}, broken: []string{"mine"}}} {
		_, err := machine.system("linux", true, map[string]string{"CHROMIUM": "mine"}).browser(true)
		if err == nil || !strings.Contains(err.Error(), "CHROMIUM names mine") || len(machine.ran) > 0 {
			t.Errorf("error %v after %v", err, machine.ran)
		}
	}
}

func TestDebianInstallsItsPackage(t *testing.T) {
	for _, c := range []struct {
		root   bool
		prefix string
	}{{true, ""}, {false, "sudo -n "}} {
		machine := fake{programs: []string{"apt-get"}}
		got, err := machine.system("linux", c.root, nil).browser(true)
		if err != nil || got != "found:chromium" {
			t.Errorf("root %v: %q, %v", c.root, got, err)
		}
		for i, step := range []string{"apt-get update -q", "apt-get install -q -y --no-install-recommends fonts-liberation chromium"} {
			want := c.prefix + "env DEBIAN_FRONTEND=noninteractive " + step
			if at := len(machine.ran) - 2 + i; at < 0 || machine.ran[at] != want {
				t.Errorf("root %v: ran %q, want %q among them", c.root, machine.ran, want)
			}
		}
	}
}

func TestWhereNothingCanBeInstalledItSaysWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		machine fake
		goos    string
		root    bool
		install bool
		want    string
	}{
		"no apt-get":        {fake{}, "linux", true, true, "apt-get install chromium"},
		"sudo asks":         {fake{programs: []string{"apt-get"}, failing: "sudo"}, "linux", false, true, "apt-get install chromium"},
		"not asked to":      {fake{programs: []string{"apt-get"}}, "linux", true, false, "CHROMIUM="},
		"no network":        {fake{programs: []string{"apt-get"}, failing: "update"}, "linux", true, true, "'apt-get update -q' failed"},
		"no such package":   {fake{programs: []string{"apt-get"}, failing: "install"}, "linux", true, true, "chromium' failed"},
		"installed a stub":  {fake{programs: []string{"apt-get"}, broken: []string{"chromium"}}, "linux", true, true, "CHROMIUM="},
		"macOS without one": {fake{}, "darwin", false, true, "Applications"},
	} {
		if path, err := c.machine.system(c.goos, c.root, nil).browser(c.install); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v, want an error with %q", name, path, err, c.want)
		}
	}
}

func TestFirefoxIsFoundAndInstalledAlike(t *testing.T) {
	machine := fake{programs: []string{"chromium", "firefox", "apt-get"}}
	s := machine.system("linux", true, nil)
	s.kind = &firefoxes
	if got, err := s.browser(true); err != nil || got != "found:firefox" || len(machine.ran) > 0 {
		t.Errorf("%q, %v after %v", got, err, machine.ran)
	}
	machine.programs = []string{"chromium", "apt-get"}
	if _, err := s.browser(true); err == nil || !strings.Contains(err.Error(), "FIREFOX=") || !strings.HasSuffix(machine.ran[len(machine.ran)-1], " firefox-esr") {
		t.Errorf("%v after %v", err, machine.ran)
	}
}

func TestWebKitComesWithAScreen(t *testing.T) {
	machine := fake{programs: []string{"chromium", "apt-get"}}
	s := machine.system("linux", true, nil)
	s.kind = &webkits
	if _, err := s.browser(true); err == nil || !strings.Contains(err.Error(), "WEBKIT=") || !strings.HasSuffix(machine.ran[len(machine.ran)-1], " fonts-liberation webkit2gtk-driver xvfb xauth") {
		t.Errorf("%v after %v", err, machine.ran)
	}
}

func TestOnlyAProgramThatCallsItselfChromiumWorks(t *testing.T) {
	dir := t.TempDir()
	for script, want := range map[string]bool{
		"echo Chromium 1.2.3":                true,
		"echo Google Chrome 1.2.3":           true,
		"echo please install the snap":       false,
		"echo Chromium 1.2.3 >&2":            false,
		"echo Chromium is not here; exit 10": false,
	} {
		path := filepath.Join(dir, "browser")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := chromiums.works(path); (err == nil) != want {
			t.Errorf("%q: %v, want it to work: %v", script, err, want)
		}
	}
}
