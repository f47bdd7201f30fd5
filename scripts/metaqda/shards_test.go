package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"metaqda/core/model/modeltest"
	"metaqda/core/test"
)

// sharded is an evaluation that the scripts of scripts/shards are to divide.
type sharded struct {
	dir   string
	flags []string
	whole []byte // what the undivided one writes
}

func newSharded(t *testing.T) *sharded {
	dir := t.TempDir()
	s := &sharded{dir: dir}
	data := toy{classes: 30, rows: 24, dim: 6}.write(t, dir, "alpha")
	prior := writePrior(t, filepath.Join(dir, "p.safetensors"), modeltest.Prior(6))
	s.flags = []string{"--protocol", "open-set", "--data", data, "--prior", prior, "--methods", "fb,knn", "--n-way", "3", "--n-shot", "1,2", "--n-query", "4", "--n-tasks", "21", "--n-val-tasks", "3"}
	mustRun(t, append([]string{"eval", "--json", filepath.Join(dir, "whole.json")}, s.flags...)...)
	s.whole = readFile(t, filepath.Join(dir, "whole.json"))
	test.OK(t, os.Symlink(testBinary(t), filepath.Join(dir, "metaqda")))
	return s
}

// testBinary is this program, which is the command where METAQDA_TEST_AS_COMMAND
// is 1.
func testBinary(t *testing.T) string {
	t.Helper()
	return test.Must(os.Executable())(t)
}

// run runs a program in the folder with the command in its PATH.
func (s *sharded) run(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = s.dir
	c.Env = append(append(os.Environ(), "METAQDA_TEST_AS_COMMAND=1", "PATH="+s.dir+string(os.PathListSeparator)+os.Getenv("PATH")), env...)
	out, err := c.CombinedOutput()
	test.StopIf(t, err != nil, "%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
}

// merge puts the shards in a folder together and compares with the whole.
func (s *sharded) merge(t *testing.T, shards int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, "shards", "*.json"))
	test.StopIf(t, err != nil || len(files) != shards, "%d shards, want %d (%v)", len(files), shards, err)
	merged := filepath.Join(s.dir, "merged.json")
	mustRun(t, append([]string{"merge", "--json", merged}, files...)...)
	got := readFile(t, merged)
	test.FailIf(t, !bytes.Equal(got, s.whole), "merged\n%.400s\nwhole\n%.400s", got, s.whole)
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
	s := newSharded(t)
	out := filepath.Join(s.dir, "out file.json")
	s.run(t, nil, script(t, "parallel.sh"), append([]string{"3", out}, s.flags...)...)
	got := readFile(t, out)
	test.FailIf(t, !bytes.Equal(got, s.whole), "in three shards\n%.400s\nwhole\n%.400s", got, s.whole)
	left := names(t, s.dir)
	test.FailIf(t, strings.Contains(left, "out file.json."), "parts were left: %s", left)
	c := exec.Command(script(t, "parallel.sh"), "2", out, "--data", "gone.npz")
	c.Env = append(os.Environ(), "METAQDA_TEST_AS_COMMAND=1", "METAQDA="+testBinary(t))
	if text, err := c.CombinedOutput(); err == nil || !strings.Contains(string(text), "gone.npz does not exist") {
		t.Errorf("a shard that fails: %v, %s", err, text)
	}
}

// The array of a Slurm job is run here one task after the other.
func TestSlurmArray(t *testing.T) {
	s := newSharded(t)
	text := string(readFile(t, script(t, "slurm.sh")))
	array := regexp.MustCompile(`(?m)^#SBATCH .*--array=0-(\d+)\b`).FindStringSubmatch(text)
	test.StopIf(t, array == nil, "slurm.sh asks for no array from 0 on")
	last, _ := strconv.Atoi(array[1])
	for i := range last + 1 {
		env := []string{fmt.Sprint("SLURM_ARRAY_TASK_ID=", i), fmt.Sprint("SLURM_ARRAY_TASK_COUNT=", last+1), "SLURM_CPUS_PER_TASK=2"}
		s.run(t, env, script(t, "slurm.sh"), s.flags...)
	}
	s.merge(t, last+1)
}

// The pods of the Kubernetes job are run here one after the other, by the command of
// the manifest.
func TestKubernetesJob(t *testing.T) {
	var job struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Spec       struct {
			CompletionMode string `yaml:"completionMode"`
			Completions    int
			Template       struct {
				Spec struct {
					RestartPolicy string `yaml:"restartPolicy"`
					Containers    []struct {
						Command, Args []string
						Env           []struct{ Name, Value string }
						WorkingDir    string `yaml:"workingDir"`
						VolumeMounts  []struct {
							Name      string
							MountPath string `yaml:"mountPath"`
						} `yaml:"volumeMounts"`
					}
					Volumes []struct{ Name string }
				}
			}
		}
	}
	test.OK(t, yaml.Unmarshal(readFile(t, script(t, "kubernetes.yaml")), &job))
	pod := job.Spec.Template.Spec
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || job.Spec.CompletionMode != "Indexed" || pod.RestartPolicy != "Never" || len(pod.Containers) != 1 {
		t.Fatalf("no indexed job of one container: %+v", job)
	}
	c := pod.Containers[0]
	if len(c.Env) != 1 || c.Env[0].Name != "FLAGS" || len(c.VolumeMounts) != 1 || c.VolumeMounts[0].MountPath != c.WorkingDir || len(pod.Volumes) != 1 || pod.Volumes[0].Name != c.VolumeMounts[0].Name {
		t.Fatalf("the container does not work on its volume: %+v", c)
	}
	s := newSharded(t)
	for i := range job.Spec.Completions {
		env := []string{"FLAGS=" + strings.Join(s.flags, " "), fmt.Sprint("JOB_COMPLETION_INDEX=", i)}
		s.run(t, env, c.Command[0], append(c.Command[1:], c.Args...)...)
	}
	s.merge(t, job.Spec.Completions)
}
