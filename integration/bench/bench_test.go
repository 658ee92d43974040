package main

import (
	"bytes"
	"cmp"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMain lets the test run itself as a server, as the program does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveLate {
		if err := start(os.Args); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

var allJobs = flag.Bool("bench.all", false, "run all jobs of TestTiny, not one of each kind")

// repeats matches jobs that do what others do, with other data, another plane or another delay.
var repeats = regexp.MustCompile(
	`^dd of R, dec|preads of [RQ]|patches of Q by|patches of R as HDF5|^slices|LZF|npy|MRC|TIFF|, raw|3, dec`)

// tinyJobs returns a pattern of the jobs that TestTiny runs, and their number.
func tinyJobs() (pattern string, n int) {
	var names []string
	for _, j := range (&bench{sizes: tiny}).jobs() {
		if *allJobs || !repeats.MatchString(j.name) {
			names = append(names, regexp.QuoteMeta(j.name))
		}
	}
	return "^(" + strings.Join(names, "|") + ")$", len(names)
}

// TestTiny runs jobs with little data. The figures mean nothing, but the jobs check that all contenders
// read the same bytes.
func TestTiny(t *testing.T) {
	if _, err := os.Stat("/dev/fuse"); err != nil && os.Getenv("WKWFS_REQUIRE_FUSE") != "1" {
		t.Skip("no FUSE:", err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "wkwfs")
	build := exec.Command("go", "build", "-o", program, "../../cmd/wkwfs")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // the one that other tests have built
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}
	t.Setenv("TMPDIR", dir)
	report := filepath.Join(dir, "report.json")
	args := []string{"-tiny", "-rounds", "1", "-dir", dir + "/data", "-wkwfs", program, "-refdata", refdata(t)}
	pattern, n := tinyJobs()
	var stdout, stderr bytes.Buffer
	all := append(args, "-run", pattern, "-before", program, "-json", report)
	if err := measure(t.Context(), all, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	t.Log("\n" + stdout.String())
	checkReport(t, report, n)
	if remaining, err := filepath.Glob(filepath.Join(dir, "wkwfs-bench-*")); err != nil || len(remaining) > 0 {
		t.Errorf("not removed: %v, %v", remaining, err)
	}

	// A second run uses the same data.
	stdout.Reset()
	stderr.Reset()
	if err := measure(t.Context(), append(args, "-run", "preads of E,|dd of E, cold"), &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(stderr.String(), "making") {
		t.Errorf("the second run made data again:\n%s", &stderr)
	}
}

// tinyE returns E with few voxels.
func tinyE(t *testing.T) *dataset {
	t.Helper()
	b := &bench{dir: t.TempDir(), sizes: tiny, progress: t.Logf, datasets: map[string]*dataset{}}
	d, err := b.data(t.Context(), dataE)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// refdata returns a directory with the blocks that R and Q are made of. Where there are none of a real microscope, it
// has blocks of an image that was generated, for both.
func refdata(t *testing.T) string {
	t.Helper()
	real := cmp.Or(os.Getenv("WKWFS_REFDATA"), "../../../shared/refdata")
	if _, err := os.Stat(filepath.Join(real, "l4_blocks")); err == nil {
		return real
	}
	dir := t.TempDir()
	image := tinyE(t)
	for _, layer := range []string{"color", "segmentation"} {
		if err := os.MkdirAll(filepath.Join(dir, "l4_blocks", layer), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(image.mag, filepath.Join(dir, "l4_blocks", layer, "2-2-1")); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// checkReport checks that each of the jobs has figures of each contender that is available.
func checkReport(t *testing.T, path string, jobs int) {
	t.Helper()
	report, err := readReport(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(report.Jobs), jobs+1; got != want {
		t.Errorf("%d jobs and a row of memory, want %d", got, want)
	}
	for _, j := range report.Jobs {
		for _, c := range j.Contenders {
			if c.Absent != "" {
				t.Logf("%s: %s is not available: %s", j.Work, c.Name, c.Absent)
				continue
			}
			if len(c.Turns) == 0 {
				t.Errorf("%s: %s had no turn", j.Work, c.Name)
			}
			for _, turn := range c.Turns {
				if len(turn.Values) != len(j.Units) || slices.Contains(turn.Values, 0) {
					t.Errorf("%s: %s measured %v of %v", j.Work, c.Name, turn.Values, j.Units)
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for want, args := range map[string][]string{
		"not defined":          {"-fast"},
		"expected at least 1":  {"-rounds", "0"},
		"none":                 {"fast"},
		"missing closing )":    {"-run", "("},
		"make build builds":    {"-wkwfs", "/nowhere/wkwfs"},
		"/nowhere/before":      {"-wkwfs", "/bin/true", "-before", "/nowhere/before"},
		"no job matches":       {"-wkwfs", "/bin/true", "-run", "^x$"},
		"needs -pictures":      {"-from", "testdata/report.json"},
		"no such file":         {"-from", "/nowhere/report", "-pictures", "."},
		"invalid character":    {"-from", "jobs.go", "-pictures", "."},
		"R and Q are skipped:": {"-wkwfs", "/bin/true", "-refdata", "/nowhere", "-run", "dd of R"},
	} {
		err := measure(t.Context(), append(args, "-dir", t.TempDir()), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", args, err, want)
		}
	}
}
