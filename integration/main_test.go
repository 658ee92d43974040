// Package integration tests what a user gets: the program is built once and run as
// a process of its own, and its mounts are read from here, through the kernel.
package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/integration/latefs"
)

// The environment of a test run.
const (
	// raceVariable = 1 builds the program with the race detector.
	raceVariable = "WKWFS_RACE"
	// requireVariable = 1 turns a missing FUSE from a skip into a failure.
	requireVariable = "WKWFS_REQUIRE_FUSE"
)

// program is the path of the wkwfs that is tested.
var program string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == lateArgument {
		if err := latefs.Run(os.Args[2:], os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(testMain(m))
}

// testMain builds the program, runs the tests and looks for what they left behind.
func testMain(m *testing.M) int {
	dir, err := prepare()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	code := m.Run()
	if left := leftMounts(dir); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "mounts left behind:", left)
		code = 1
	}
	if races := raceReports(dir); races != "" {
		fmt.Fprintln(os.Stderr, races)
		code = 1
	}
	return code
}

// prepare makes the directory of the run, with everything temporary inside, and
// builds the program there.
func prepare() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "wkwfs-integration-"); err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // other users are tested too
		return "", err
	}
	environment := map[string]string{
		"TMPDIR": dir,
		// A race in the background has nowhere else to go. The detector would wait a
		// second at the end of every process.
		"GORACE":        "log_path=" + filepath.Join(dir, "race") + " atexit_sleep_ms=10",
		"NOTIFY_SOCKET": "",
	}
	for name, value := range environment {
		if err := os.Setenv(name, value); err != nil {
			return "", err
		}
	}
	// Background servers become our children when the command that started them
	// has ended: so we can wait for them and see how they ended.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return "", fmt.Errorf("become the parent of orphans: %w", err)
	}
	program = filepath.Join(dir, "wkwfs")
	return dir, build(program)
}

func build(path string) error {
	args := []string{"build", "-o", path}
	if os.Getenv(raceVariable) == "1" {
		args = append(args, "-race")
	}
	output, err := exec.Command("go", append(args, "../cmd/wkwfs")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return nil
}

// leftMounts takes away what is still mounted below the directory, and says what
// it was.
func leftMounts(dir string) []string {
	var left []string
	for _, m := range mountTable() {
		if strings.HasPrefix(m.Mountpoint, dir+"/") {
			left = append(left, m.Mountpoint)
			_ = exec.Command(program, "umount", "--lazy", m.Mountpoint).Run() // it failed the run already
		}
	}
	return left
}

// raceReports returns what the race detector wrote.
func raceReports(dir string) string {
	var all strings.Builder
	files, _ := filepath.Glob(filepath.Join(dir, "race.*")) // the pattern is a good one
	for _, name := range files {
		report, err := os.ReadFile(name)
		if err != nil {
			report = []byte(err.Error())
		}
		all.Write(report)
	}
	return all.String()
}

// requireFUSE skips the test where FUSE cannot be used, or fails it where the
// environment promises FUSE.
func requireFUSE(t *testing.T) {
	t.Helper()
	reason := ""
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		reason = err.Error()
	} else {
		f.Close()
	}
	if _, err := exec.LookPath("fusermount3"); err != nil && os.Geteuid() != 0 {
		reason = "not root, and " + err.Error()
	}
	switch {
	case reason == "":
	case os.Getenv(requireVariable) == "1":
		t.Fatalf("%s=1, but there is no FUSE: %s", requireVariable, reason)
	default:
		t.Skipf("no FUSE (%s=1 makes this a failure): %s", requireVariable, reason)
	}
}

// skipUnlessRequired skips a test that lacks something, or fails it where the
// environment promises everything.
func skipUnlessRequired(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv(requireVariable) == "1" {
		t.Fatalf("%s=1, but: %s", requireVariable, reason)
	}
	t.Skip(reason)
}

// requireRoot skips a test that does what only root can do.
func requireRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}
