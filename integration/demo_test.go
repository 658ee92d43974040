package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemo runs the demo with a python3 without numpy in front of others, as a shim of pyenv may be. The demo uses
// another python that has numpy, or says why it leaves numpy out.
func TestDemo(t *testing.T) {
	skipOneByOne(t)
	parallelHeavy(t)
	requireFUSE(t)
	want := "numpy is left out: python3 does not have it"
	if exec.Command("/usr/bin/python3", "-c", "import numpy").Run() == nil {
		want = "read by numpy"
	}
	shims := tempDir(t)
	for _, name := range []string{"python3", "python"} {
		if err := os.WriteFile(filepath.Join(shims, name), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "demo.sh", program)
	cmd.Env = append(os.Environ(), "PATH="+shims+":"+os.Getenv("PATH"))
	r := runCommand(t, cmd)
	if r.code != 0 || !strings.Contains(r.stdout, want) || strings.Contains(r.stdout, "voxels: False") {
		t.Errorf("exit code %d, want 0 and %q; stderr %q, printed\n%s", r.code, want, r.stderr, r.stdout)
	}
}
