package integration

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// readAs reads a file as another user, and returns what the program that did it said.
func readAs(t *testing.T, uid, gid uint32, name string) ([]byte, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("cat", name)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid, NoSetGroups: false}}
	if err := cmd.Run(); err != nil && stderr.Len() == 0 {
		t.Fatal(err)
	}
	return stdout.Bytes(), stderr.String()
}

// TestSourcePermissionsDecide holds that a mount by root that lets others in shows them
// what they may read in the source, and nothing else: neither as a cube, nor as part
// of a volume.
func TestSourcePermissionsDecide(t *testing.T) {
	requireRoot(t)
	const user, group = 4321, 8765
	l := sparse
	l.cubes = map[[3]int]bool{{0, 0, 0}: true, {2, 1, 0}: true, {1, 2, 1}: true}
	source := l.write(t)
	for dir := source; dir != "/"; dir = filepath.Dir(dir) { // the way there
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(filepath.Base(dir), "wkwfs-integration-") {
			break
		}
	}
	mag := filepath.Join(source, "color/1")
	dir := filepath.Join(mount(t, source, "--allow-other"), "color/1")
	volumes := []string{"volume.raw", "volume.npy", "volume.tif", "slices/z0000009.tif", "box/6-8_4-8_3-5.raw", "../precomputed/1/4-36_0-32_0-32"}
	cubes := []string{"z0/y0/x0.raw", "z0/y0/x0.blocks/z0/y0/x0.raw"}
	check := func(what string, names []string, allowed bool) {
		t.Helper()
		for _, name := range names { // attributes are believed for a second or two
			eventually(t, fmt.Sprintf("%s: %s: allowed: %v", what, name, allowed), func() bool {
				got, said := readAs(t, user, group, filepath.Join(dir, name))
				return allowed == (len(got) != 0 && said == "")
			})
		}
	}
	change := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cube := filepath.Join(mag, "z0/y0/x0.wkw")

	check("all may be read", append(volumes, cubes...), true)
	change(os.Chmod(cube, 0o600))
	check("one cube may not", append(volumes, cubes...), false)
	check("one cube may not, another may", []string{"z0/y1/x2.raw"}, true)
	change(errors.Join(os.Chmod(cube, 0o640), os.Chown(cube, 0, group)))
	check("one cube of the user's group", cubes, true)
	check("cubes of different groups", []string{"volume.raw"}, true) // others may read the rest
	change(os.Chmod(filepath.Join(mag, "z0/y1/x2.wkw"), 0o640))
	check("cubes of different groups, neither for others", volumes, false)
	change(errors.Join(os.Chmod(filepath.Join(mag, "z0/y1/x2.wkw"), 0o644), os.Chmod(cube, 0o644), os.Chmod(filepath.Join(mag, "z1"), 0o700)))
	check("a directory that may not be searched", append(volumes, "z1/y2/x1.raw"), false)
	check("a directory that may not be searched, another may", cubes, true)
	change(os.Chmod(filepath.Join(mag, "z1"), 0o755))
	check("all may be read again", append(volumes, cubes...), true)
}
