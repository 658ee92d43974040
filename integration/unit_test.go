package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSystemdUnit checks that systemd accepts the unit file of the packages.
func TestSystemdUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skipf("needs systemd-analyze (apt install systemd): %v", err)
	}
	text, err := os.ReadFile("../packaging/systemd/wkwfs@.service")
	if err != nil {
		t.Fatal(err)
	}
	const start = "ExecStart=wkwfs "
	if !strings.Contains(string(text), start) {
		t.Fatalf("the unit does not have %q", start)
	}
	unit := strings.Replace(string(text), start, "ExecStart="+program+" ", 1) // the program is not installed
	path := writeFile(t, filepath.Join(tempDir(t), "wkwfs@.service"), []byte(unit))
	r := runCommand(t, exec.Command("systemd-analyze", "verify", "--man=no", strings.Replace(path, "@", "@cortex", 1)))
	if r.code != 0 || r.stdout+r.stderr != "" {
		t.Errorf("exit code %d:\n%s%s", r.code, r.stdout, r.stderr)
	}
}
