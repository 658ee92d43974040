package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// limitedGroup makes a control group with that many bytes of memory, and returns its directory. It skips the test where
// that is not possible.
func limitedGroup(t *testing.T, bytes int) string {
	t.Helper()
	requireRoot(t)
	var reason error
	for parent, file := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes",
		"/sys/fs/cgroup": "memory.max"} {
		group := filepath.Join(parent, fmt.Sprintf("wkwfs-test-%d", os.Getpid()))
		if err := os.Mkdir(group, 0o755); err != nil {
			reason = errors.Join(reason, err)
			continue
		}
		if err := writeExisting(filepath.Join(group, file), strconv.Itoa(bytes)); err != nil {
			reason = errors.Join(reason, err, os.Remove(group))
			continue
		}
		t.Cleanup(func() {
			if err := os.Remove(group); err != nil {
				t.Error(err)
			}
		})
		return group
	}
	t.Skipf("no control group with a limit of memory can be made here: %v", reason)
	return ""
}

// writeExisting writes a file that the kernel has made. Where no control groups are mounted, there is none.
func writeExisting(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// TestCacheLargerThanMemory checks that a cache larger than the memory is refused before anything is read, and that the
// limit of a container or a service counts.
func TestCacheLargerThanMemory(t *testing.T) {
	requireFUSE(t)
	source, dir := dataset(t), tempDir(t)
	group := limitedGroup(t, 256<<20)
	run := func(limited bool, args ...string) result {
		cmd := exec.Command(program, args...)
		if limited {
			cmd = exec.Command("sh", slices.Concat([]string{"-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, group,
				program}, args)...)
		}
		cmd.Env = append(os.Environ(), "WKWFS_CACHE_SIZE=")
		return runCommand(t, cmd)
	}
	const ofMachine, ofGroup = " is more than the memory of this ",
		"300.0 MiB is more than the memory of this service or container, 256.0 MiB\nhint: set it to 128 MiB, or raise the limit"
	for _, test := range []struct {
		limited bool
		args    []string
		want    string
	}{
		{false, []string{"mount", "--cache-size", "2000TiB", source, dir},
			"wkwfs: --cache-size: 1.953 PiB" + ofMachine},
		{false, []string{"mount", "-o", "cache_size=2000TiB", source, dir},
			"wkwfs: -o cache_size: 1.953 PiB" + ofMachine},
		{false, []string{"serve", "--cache-size", "2000TiB", source}, ofMachine},
		{false, []string{"cp", "--cache-size", "2000TiB", source, "color", filepath.Join(dir, "out")}, ofMachine},
		{true, []string{"mount", "--cache-size", "300MiB", source, dir}, ofGroup},
		{true, []string{"serve", "--cache-size", "300MiB", source}, ofGroup},
		{true, []string{"cp", "--cache-size", "300MiB", source, "color", filepath.Join(dir, "out")}, ofGroup},
	} {
		r := run(test.limited, test.args...)
		if r.code != 2 || !strings.Contains(r.stderr, test.want) || isMounted(dir) {
			t.Errorf("%q: exit code %d, stderr %q; want %q", test.args, r.code, r.stderr, test.want)
		}
	}
	// The default adapts.
	r := run(true, "mount", source, dir)
	if r.code != 0 {
		t.Fatalf("exit code %d, stderr %q", r.code, r.stderr)
	}
	s := &server{dir: dir, pid: serverOf(t, dir), ended: make(chan *os.ProcessState, 1)}
	s.await(t)
	t.Cleanup(func() { s.stop(t) })
	if got := parseStatus(t, []byte(mustRun(t, "status", "--json", dir))).Cache.BudgetBytes; got != 128<<20 {
		t.Errorf("the default cache has %d bytes, want half of the memory", got)
	}
}
