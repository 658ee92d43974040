// Package kubernetes reads the manifests of packaging/kubernetes as Kubernetes does. It is a module of its own, because
// the types of Kubernetes are many.
package kubernetes

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const manifests = "../../packaging/kubernetes"

// decode reads a manifest. Unknown fields, and fields that are there twice, are errors.
func decode[T any](t *testing.T, name string) (object T) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(manifests, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(b, &object); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return object
}

// pods returns the pods that the manifests make, by the names of the files.
func pods(t *testing.T) map[string]core.PodSpec {
	t.Helper()
	job := decode[batch.Job](t, "job.yaml")
	pods := map[string]core.PodSpec{
		"node.yaml":    decode[apps.DaemonSet](t, "node.yaml").Spec.Template.Spec,
		"sidecar.yaml": decode[core.Pod](t, "sidecar.yaml").Spec,
		"job.yaml":     job.Spec.Template.Spec,
	}
	files, err := filepath.Glob(filepath.Join(manifests, "*.yaml"))
	if err != nil || len(files) != len(pods) {
		t.Fatalf("%d files, %v; the test reads %d", len(files), err, len(pods))
	}
	return pods
}

// TestManifests: each volume mount has its volume, each pod its claims, and every argument is one of the program.
func TestManifests(t *testing.T) {
	t.Setenv("JOB_COMPLETION_INDEX", "0") // as in each pod of a Job
	program := filepath.Join(t.TempDir(), "wkwfs")
	if output, err := exec.Command("go", "build", "-C", "../..", "-o", program,
		"./cmd/wkwfs").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for file, pod := range pods(t) {
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			for _, m := range c.VolumeMounts {
				if !slices.ContainsFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == m.Name }) {
					t.Errorf("%s: container %s: there is no volume %s", file, c.Name, m.Name)
				}
			}
			if !strings.HasPrefix(c.Image, "wkwfs") {
				continue
			}
			for _, args := range commands(c) {
				if output, err := exec.Command(program, append(args, "--help")...).CombinedOutput(); err != nil {
					t.Errorf("%s: %q: %v: %s", file, args, err, output)
				}
			}
			if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
				t.Errorf("%s: container %s has no limit of memory, or asks for no processor", file, c.Name)
			}
		}
	}
}

// commands returns the arguments with which a container starts the program, its probes too.
func commands(c core.Container) [][]string {
	all := [][]string{c.Args}
	for _, p := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if p != nil && p.Exec != nil {
			all = append(all, p.Exec.Command[1:])
		}
	}
	return all
}

// TestSocket: the sidecar gets the descriptor through the socket that the driver makes.
func TestSocket(t *testing.T) {
	pod := decode[core.Pod](t, "sidecar.yaml").Spec
	var attributes map[string]string
	for _, v := range pod.Volumes {
		if v.CSI != nil {
			attributes = v.CSI.VolumeAttributes
		}
	}
	var dir string
	for _, m := range pod.InitContainers[0].VolumeMounts {
		if m.Name == attributes["fdPassingEmptyDirName"] {
			dir = m.MountPath
		}
	}
	b, err := os.ReadFile(filepath.Join(manifests, "Dockerfile.starter"))
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(b), "\nENTRYPOINT ")
	var entry []string
	if err := json.Unmarshal([]byte(line), &entry); err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, attributes["fdPassingSocketName"]); dir == "" || !slices.Contains(entry, want) {
		t.Errorf("the entry point is %q, want the socket %s", entry, want)
	}
}

// TestParts: the job has as many parts as its command says.
func TestParts(t *testing.T) {
	job := decode[batch.Job](t, "job.yaml").Spec
	if *job.CompletionMode != batch.IndexedCompletion {
		t.Error("the job is not indexed")
	}
	if args := job.Template.Spec.Containers[0].Args; !slices.Contains(args, fmt.Sprint("auto/", *job.Completions)) {
		t.Errorf("%d completions, and the arguments %q", *job.Completions, args)
	}
}
