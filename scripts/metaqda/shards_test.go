package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"metaqda/core/model/modeltest"
	"metaqda/core/test"
)

// sharded runs an evaluation undivided. It returns its folder, which also has the command, its
// flags, and the report.
func sharded(t *testing.T) (dir string, flags []string, whole []byte) {
	t.Helper()
	dir = t.TempDir()
	data := toy{classes: 30, rows: 24, dim: 6}.write(t, dir, "alpha")
	prior := writePrior(t, filepath.Join(dir, "p.safetensors"), modeltest.Prior(6))
	flags = []string{"--protocol", "open-set", "--data", data, "--prior", prior, "--methods", "fb,knn", "--n-way", "3", "--n-shot", "1,2", "--n-query", "4", "--n-tasks", "21", "--n-val-tasks", "3"}
	mustRun(t, append([]string{"eval", "--json", filepath.Join(dir, "whole.json")}, flags...)...)
	// This program is the command where METAQDA_TEST_AS_COMMAND is 1.
	test.OK(t, os.Symlink(test.Must(os.Executable())(t), filepath.Join(dir, "metaqda")))
	return dir, flags, readFile(t, filepath.Join(dir, "whole.json"))
}

// divided runs a program in the folder with the command in its PATH.
func divided(dir string, env []string, name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(append(os.Environ(), "METAQDA_TEST_AS_COMMAND=1", "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH")), env...)
	return c.CombinedOutput()
}

func script(t *testing.T, name string) string {
	t.Helper()
	return test.Must(filepath.Abs(filepath.Join("..", "shards", name)))(t)
}

func TestGNUParallel(t *testing.T) {
	version, err := exec.Command("parallel", "--version").Output()
	if err != nil || !bytes.HasPrefix(version, []byte("GNU parallel")) {
		t.Skip("GNU parallel is not installed; the Debian package is called parallel")
	}
	dir, flags, whole := sharded(t)
	out := filepath.Join(dir, "out file.json")
	said, err := divided(dir, nil, script(t, "parallel.sh"), append([]string{"3", out}, flags...)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	got := readFile(t, out)
	if !bytes.Equal(got, whole) {
		t.Errorf("in three shards\n%.400s\nwhole\n%.400s", got, whole)
	}
	left := names(t, dir)
	if strings.Contains(left, "out file.json.") {
		t.Errorf("parts were left: %s", left)
	}
	said, err = divided(dir, nil, script(t, "parallel.sh"), "2", out, "--data", "gone.npz")
	if err == nil || !bytes.Contains(said, []byte("gone.npz does not exist")) {
		t.Errorf("a shard that fails: %v, %s", err, said)
	}
}

// This test runs the tasks of a Slurm array one after the other. It runs the pods of a Kubernetes
// job likewise, by the command of its manifest.
func TestArraysOfJobs(t *testing.T) {
	dir, flags, whole := sharded(t)
	array := regexp.MustCompile(`(?m)^#SBATCH .*--array=0-(\d+)\b`).FindSubmatch(readFile(t, script(t, "slurm.sh")))
	if array == nil {
		t.Fatal("slurm.sh asks for no array from 0 on")
	}
	var job struct {
		Spec struct {
			CompletionMode string `yaml:"completionMode"`
			Completions    int
			Template       struct {
				Spec struct {
					Containers []struct{ Command, Args []string }
				}
			}
		}
	}
	test.OK(t, yaml.Unmarshal(readFile(t, script(t, "kubernetes.yaml")), &job))
	if job.Spec.CompletionMode != "Indexed" || len(job.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("no indexed job of one container: %+v", job)
	}
	pod := job.Spec.Template.Spec.Containers[0]
	if string(array[1]) != "15" || job.Spec.Completions != 16 {
		t.Fatalf("%s and %d jobs, want 16 each", array[1], job.Spec.Completions)
	}
	for name, command := range map[string][]string{"slurm.sh": append([]string{script(t, "slurm.sh")}, flags...), "kubernetes.yaml": append(pod.Command, pod.Args...)} {
		shards := filepath.Join(dir, "shards")
		test.OK(t, os.RemoveAll(shards))
		for i := range 16 {
			env := []string{fmt.Sprint("SLURM_ARRAY_TASK_ID=", i), "SLURM_ARRAY_TASK_COUNT=16", "SLURM_CPUS_PER_TASK=2", fmt.Sprint("JOB_COMPLETION_INDEX=", i), "FLAGS=" + strings.Join(flags, " ")}
			said, err := divided(dir, env, command[0], command[1:]...)
			if err != nil {
				t.Fatalf("%s, job %d: %v\n%s", name, i, err, said)
			}
		}
		files := test.Must(filepath.Glob(filepath.Join(shards, "*.json")))(t)
		merged := filepath.Join(dir, "merged.json")
		mustRun(t, append([]string{"merge", "--json", merged}, files...)...)
		got := readFile(t, merged)
		if len(files) != 16 || !bytes.Equal(got, whole) {
			t.Errorf("%s: %d files, merged\n%.400s\nwhole\n%.400s", name, len(files), got, whole)
		}
	}
}
