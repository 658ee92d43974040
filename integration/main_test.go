// Package integration tests the program as its users run it. It builds the program once, runs it as a process
// of its own, and reads its mounts through the kernel.
//
// Files say by their names what they try: model_test.go compares with a naive model; random*_test.go makes random
// sessions against a model of the whole tree, and a failing run prints the seed that repeats it; faults*_test.go
// and late*_test.go have disks and servers that fail, answer late or not at all; systemd_test.go runs the unit in
// systemd, as the first process of a system that can write nothing of the machine. Those with the tags clients and
// browser need programs from Debian: make test-clients, make test-browser. cloud*_test.go, with the tag
// clients, start versitygw, fake-gcs-server and nginx, each behind a cloudproxy; -cloud.all is their long form.
package integration

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/integration/latefs"
)

// The environment variables of a test run.
const (
	// raceVariable = 1 builds the program with the race detector.
	raceVariable = "WKWFS_RACE"
	// requireVariable = 1 turns a missing FUSE from a skip into a failure.
	requireVariable = "WKWFS_REQUIRE_FUSE"
)

// long makes tests of time, memory and races do more of the same.
var long = flag.Bool("long", false, "more data and more repetitions in the tests that have a long form")

// amount returns how much a test does: few, or many in the long form.
func amount(few, many int) int {
	if *long {
		return many
	}
	return few
}

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
	if len(os.Args) > 2 && os.Args[1] == requestsArgument {
		if err := makeRequests(os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(testMain(m))
}

// testMain builds the program and runs the tests. The run fails if a mount remains or if the race detector
// reports something.
func testMain(m *testing.M) int {
	dir, err := prepare()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	code := m.Run()
	if remaining := removeMounts(dir); len(remaining) > 0 {
		fmt.Fprintln(os.Stderr, "these mounts remained:", remaining)
		code = 1
	}
	if races := raceReports(dir); races != "" {
		fmt.Fprintln(os.Stderr, races)
		code = 1
	}
	return code
}

// prepare makes a directory for all temporary files of the run and builds the program in it.
func prepare() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "wkwfs-integration-"); err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // some tests act as other users
		return "", err
	}
	environment := map[string]string{
		"TMPDIR": dir,
		// A server in the background has no stderr for reports. By default, the detector also delays the end of
		// every process by a second.
		"GORACE":        "log_path=" + filepath.Join(dir, "race") + " atexit_sleep_ms=10",
		"NOTIFY_SOCKET": "",
		// Where there is no journal and no syslog, servers in the background log to a file there.
		"STATE_DIRECTORY": filepath.Join(dir, "state"),
	}
	for name, value := range environment {
		if err := os.Setenv(name, value); err != nil {
			return "", err
		}
	}
	// A background server becomes a child of this process when the command that started it ends. So the tests can
	// wait for it and get its exit code.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return "", fmt.Errorf("become the parent of orphans: %w", err)
	}
	program = filepath.Join(dir, "wkwfs")
	if os.Getenv(raceVariable) == "1" {
		return dir, build(program, "-race")
	}
	return dir, build(program)
}

// build builds the program with the flags. It is static, as the released one, unless it has the race detector. With
// -trimpath, as "make build" has it, the compiled packages are those of all copies of this tree.
func build(path string, flags ...string) error {
	cmd := exec.Command("go", slices.Concat([]string{"build", "-trimpath", "-o", path}, flags, []string{"../cmd/wkwfs"})...)
	if !slices.Contains(flags, "-race") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd.Args, err, output)
	}
	return nil
}

// removeMounts unmounts everything below the directory and returns the mountpoints.
func removeMounts(dir string) []string {
	var remaining []string
	for _, m := range mountTable() {
		if strings.HasPrefix(m.Mountpoint, dir+"/") {
			remaining = append(remaining, m.Mountpoint)
			_ = exec.Command(program, "umount", "--lazy", m.Mountpoint).Run() // the run has failed anyway
		}
	}
	return remaining
}

// raceReports returns what the race detector wrote.
func raceReports(dir string) string {
	var reports strings.Builder
	files, _ := filepath.Glob(filepath.Join(dir, "race.*")) // the only error is a bad pattern
	for _, name := range files {
		report, err := os.ReadFile(name)
		if err != nil {
			report = []byte(err.Error())
		}
		reports.Write(report)
	}
	return reports.String()
}

// requireFUSE skips the test if FUSE does not work here. With requireVariable it fails the test instead.
func requireFUSE(t testing.TB) {
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
		t.Fatalf("%s=1, but FUSE does not work: %s", requireVariable, reason)
	default:
		t.Skipf("FUSE does not work (%s=1 makes this a failure): %s", requireVariable, reason)
	}
}

// skipUnlessRequired skips a test that lacks something. With requireVariable it fails the test instead.
func skipUnlessRequired(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv(requireVariable) == "1" {
		t.Fatalf("%s=1, but: %s", requireVariable, reason)
	}
	t.Skip(reason)
}

// requireRoot skips a test that only root can run.
func requireRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}

// skipOneByOne skips a test in short form, which is that of the race detector: the test does one thing after the other,
// with goroutines that other tests use, too.
func skipOneByOne(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("does one thing after the other")
	}
}
