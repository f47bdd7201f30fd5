package checks

import (
	"archive/zip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program is what somebody writes who has fetched the module.
const program = `package main

import (
	"fmt"

	metaqda "example.org/few/shot/core"
)

func main() {
	c, err := metaqda.New(metaqda.Settings{}, nil)
	if err == nil {
		_, err = c.Add("cup", "", []float32{3, 1, 0})
	}
	if err == nil {
		_, err = c.Add("pen", "", []float32{0, 1, 3})
	}
	if err != nil {
		panic(err)
	}
	answer, err := c.Predict([]float32{2, 1, 0})
	fmt.Println(answer.Label, err)
}
`

// After the module was renamed, go get fetches it from a proxy, and a program uses it.
func TestARenamedModuleCanBeFetched(t *testing.T) {
	const path, version = "example.org/few/shot", "v0.3.0"
	clone, proxy, user := t.TempDir(), filepath.Join(t.TempDir(), filepath.FromSlash(path), "@v"), t.TempDir()
	root := strings.TrimSpace(run(t, ".", nil, "git", "rev-parse", "--show-toplevel"))
	run(t, root, nil, "git", "clone", "-q", "--no-checkout", root, clone)
	run(t, clone, nil, "git", "checkout", "-q", "HEAD", "--", "core", "wasm", "web/prior", "scripts", "go.mod", "go.sum", "Makefile", "README.md")
	script, err := os.ReadFile(filepath.Join(root, "scripts", "rename-module")) // as it is now
	if err == nil {
		err = os.WriteFile(filepath.Join(clone, "scripts", "rename-module"), script, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	run(t, clone, nil, "bash", "scripts/rename-module", path)
	if left := run(t, clone, nil, "bash", "-c", `git grep -nE '"metaqda/(core|wasm|scripts)' -- '*.go' || true`); left != "" {
		t.Errorf("these imports have their old path:\n%s", left)
	}

	files := strings.Fields(run(t, clone, nil, "git", "ls-files", "core", "wasm", "web/prior", "go.mod", "go.sum"))
	if err := publish(clone, proxy, path+"@"+version, files); err != nil {
		t.Fatal(err)
	}
	cache := strings.TrimSpace(run(t, root, nil, "go", "env", "GOMODCACHE"))
	proxies := []string{strings.TrimSuffix(proxy, filepath.FromSlash(path+"/@v")), filepath.Join(cache, "cache", "download")}
	env := []string{"GOFLAGS=-mod=mod -modcacherw -trimpath", "GONOSUMDB=*", "GOSUMDB=off", "GOWORK=off", "GOMODCACHE=" + t.TempDir(),
		"GOPROXY=file://" + filepath.ToSlash(proxies[0]) + ",file://" + filepath.ToSlash(proxies[1])}
	run(t, user, env, "go", "mod", "init", "example.org/user")
	if err := os.WriteFile(filepath.Join(user, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, user, env, "go", "get", path+"/core@"+version)
	if out := run(t, user, env, "go", "run", "."); out != "cup <nil>\n" {
		t.Errorf("the program says %q, want cup", out)
	}
}

// publish writes the files of a module proxy for one version of a module: name is PATH@VERSION.
func publish(root, proxy, name string, files []string) error {
	_, version, _ := strings.Cut(name, "@")
	if err := os.MkdirAll(proxy, 0o755); err != nil {
		return err
	}
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	info := fmt.Sprintf(`{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, version)
	for file, content := range map[string]string{"list": version + "\n", version + ".info": info, version + ".mod": string(module)} {
		if err := os.WriteFile(filepath.Join(proxy, file), []byte(content), 0o600); err != nil {
			return err
		}
	}
	archive, err := os.Create(filepath.Join(proxy, version+".zip"))
	if err != nil {
		return err
	}
	defer archive.Close()
	z := zip.NewWriter(archive)
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		w, err := z.Create(name + "/" + file)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// run returns what a command prints to its standard output.
func run(t *testing.T, folder string, env []string, name string, args ...string) string {
	t.Helper()
	command := exec.Command(name, args...)
	command.Dir, command.Env = folder, append(os.Environ(), env...)
	out, err := command.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
