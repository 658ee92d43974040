package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestPrivilegesAreDropped holds that a server of root keeps two capabilities, in every
// thread, and cannot get any more; and that with those it serves and unmounts.
func TestPrivilegesAreDropped(t *testing.T) {
	requireRoot(t)
	source := t.TempDir()
	cube := small.write(t, source, 0, 0, 0)
	if err := os.Chmod(cube, 0o400); err != nil { // of another user, and for nobody else
		t.Fatal(err)
	}
	if err := os.Chown(cube, 4321, 4321); err != nil {
		t.Fatal(err)
	}
	s := mountServer(t, source)
	if _, err := os.ReadFile(filepath.Join(s.dir, "z0/y0/x0.raw")); err != nil {
		t.Errorf("another user's file: %v", err)
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", s.pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("threads: %v, %v", threads, err)
	}
	const readSearch, sysAdmin = 1 << 2, 1 << 21
	for _, thread := range threads {
		status, err := os.ReadFile(thread)
		if err != nil {
			continue // it has ended
		}
		for _, want := range []string{
			fmt.Sprintf(`CapEff:\s+%016x\n`, readSearch|sysAdmin), fmt.Sprintf(`CapPrm:\s+%016x\n`, readSearch|sysAdmin), `CapInh:\s+0+\n`, `NoNewPrivs:\s+1\n`,
		} {
			if !regexp.MustCompile(want).Match(status) {
				t.Errorf("%s: no %q in\n%s", thread, want, status)
			}
		}
	}
}
