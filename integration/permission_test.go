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

// readAs reads a file with cat as another user. It returns what cat prints to stdout and stderr.
func readAs(t testing.TB, uid, gid uint32, name string) ([]byte, string) {
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

// TestSourcePermissionsDecide checks that a mount with --allow-other shows other users only what they may read
// in the source: cubes, and volumes if all of their cubes may be read.
func TestSourcePermissionsDecide(t *testing.T) {
	t.Parallel() // most of the time is waiting
	requireRoot(t)
	const user, group = 4321, 8765
	l := sparse
	l.cubes = map[[3]int]bool{{0, 0, 0}: true, {2, 1, 0}: true, {1, 2, 1}: true}
	source := l.write(t)
	for dir := source; dir != "/"; dir = filepath.Dir(dir) { // the user needs to reach the source
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(filepath.Base(dir), "wkwfs-integration-") {
			break
		}
	}
	mag := filepath.Join(source, "color/1")
	dir := filepath.Join(mount(t, source, "--allow-other"), "color/1")
	volumes := []string{"volume.raw", "volume.npy", "volume.tif", "slices/z0000009.tif", "box/6-8_4-8_3-5.raw",
		"../precomputed/1/4-36_0-32_0-32", "../ome.zarr/1/0/0/0"}
	cubes := []string{"z0/y0/x0.raw", "z0/y0/x0.blocks/z0/y0/x0.raw"}
	check := func(state string, names []string, allowed bool) {
		t.Helper()
		for _, name := range names { // attributes are cached for up to two seconds
			eventually(t, fmt.Sprintf("%s: %s: allowed: %v", state, name, allowed), func() bool {
				got, stderr := readAs(t, user, group, filepath.Join(dir, name))
				return allowed == (len(got) != 0 && stderr == "")
			})
		}
	}
	mustChange := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cube := filepath.Join(mag, "z0/y0/x0.wkw")

	check("all cubes are readable", append(volumes, cubes...), true)
	mustChange(os.Chmod(cube, 0o600))
	check("one cube is not readable", append(volumes, cubes...), false)
	check("one cube is not readable, another is", []string{"z0/y1/x2.raw"}, true)
	mustChange(errors.Join(os.Chmod(cube, 0o640), os.Chown(cube, 0, group)))
	check("one cube belongs to the user's group", cubes, true)
	check("cubes belong to different groups", []string{"volume.raw"}, true) // the user may read the others as others
	mustChange(os.Chmod(filepath.Join(mag, "z0/y1/x2.wkw"), 0o640))
	check("cubes belong to different groups, others may read neither", volumes, false)
	mustChange(errors.Join(os.Chmod(filepath.Join(mag, "z0/y1/x2.wkw"), 0o644), os.Chmod(cube, 0o644),
		os.Chmod(filepath.Join(mag, "z1"), 0o700)))
	check("a directory may not be searched", append(volumes, "z1/y2/x1.raw"), false)
	check("a directory may not be searched, another may", cubes, true)
	mustChange(os.Chmod(filepath.Join(mag, "z1"), 0o755))
	check("all cubes are readable again", append(volumes, cubes...), true)
}
