package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestPrivilegesAreDropped checks that a server started by root keeps two capabilities in each thread and
// cannot gain others. With these it can read and unmount.
func TestPrivilegesAreDropped(t *testing.T) {
	requireRoot(t)
	source := t.TempDir()
	cube := small.write(t, source, 0, 0, 0)
	if err := os.Chmod(cube, 0o400); err != nil { // only its owner may read it
		t.Fatal(err)
	}
	if err := os.Chown(cube, 4321, 4321); err != nil {
		t.Fatal(err)
	}
	s := mountServer(t, source)
	if _, err := os.ReadFile(filepath.Join(s.dir, "z0/y0/x0.raw")); err != nil {
		t.Errorf("reading another user's file: %v", err)
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", s.pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("threads: %v, %v", threads, err)
	}
	const readSearch, sysAdmin = 1 << 2, 1 << 21
	for _, thread := range threads {
		status, err := os.ReadFile(thread)
		if err != nil {
			continue // the thread has ended
		}
		for _, want := range []string{
			fmt.Sprintf(`CapEff:\s+%016x\n`, readSearch|sysAdmin),
			fmt.Sprintf(`CapPrm:\s+%016x\n`, readSearch|sysAdmin), `CapInh:\s+0+\n`, `NoNewPrivs:\s+1\n`,
		} {
			if !regexp.MustCompile(want).Match(status) {
				t.Errorf("%s does not match %q:\n%s", thread, want, status)
			}
		}
	}
}

// TestManyMounts mounts often, because giving up capabilities in all threads at once is where a race would show.
func TestManyMounts(t *testing.T) {
	requireRoot(t)
	requireFUSE(t)
	t.Parallel()
	source, dir := t.TempDir(), tempDir(t)
	small.write(t, source, 0, 0, 0)
	log := filepath.Join(tempDir(t), "log")
	for i := range amount(20, 300) {
		if r := wkwfs(t, "mount", "--log-file", log, source, dir); r.code != 0 {
			t.Fatalf("mount %d: exit code %d, %s", i, r.code, r.stderr)
		}
		if r := wkwfs(t, "umount", dir); r.code != 0 {
			t.Fatalf("umount %d: exit code %d, %s", i, r.code, r.stderr)
		}
	}
	if b, err := os.ReadFile(log); err != nil ||
		regexp.MustCompile("level=ERROR|privileges|fatal error|panic").Match(b) {
		t.Errorf("%v, log:\n%s", err, b)
	}
}
