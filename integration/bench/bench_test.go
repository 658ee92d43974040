package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the program start itself as a server, as it does in earnest.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == serveMemory || os.Args[1] == serveLate) {
		if err := start(os.Args); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestTiny does all jobs with little data. What they measure says nothing; that all
// contenders read the same bytes is part of them.
func TestTiny(t *testing.T) {
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		if os.Getenv("WKWFS_REQUIRE_FUSE") == "1" {
			t.Fatal(err)
		}
		t.Skip("no FUSE:", err)
	} else {
		f.Close()
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "wkwfs")
	if output, err := exec.Command("go", "build", "-o", program, "../../cmd/wkwfs").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}
	t.Setenv("TMPDIR", dir)
	report := filepath.Join(dir, "report.json")
	args := []string{"-tiny", "-rounds", "2", "-dir", filepath.Join(dir, "data"), "-wkwfs", program, "-refdata", refdata()}
	var stdout, stderr bytes.Buffer
	if err := measure(t.Context(), append(args, "-before", program, "-json", report), &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	t.Log("\n" + stdout.String())
	checkReport(t, report)
	t.Run("reference data", func(t *testing.T) {
		if _, err := os.Stat(refdata()); err != nil {
			t.Skip("the jobs of R and Q were not done:", err)
		}
	})
	if left, err := filepath.Glob(filepath.Join(dir, "wkwfs-bench-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}

	// What was made is not made again.
	stdout.Reset()
	stderr.Reset()
	if err := measure(t.Context(), append(args, "-run", "preads of E,|dd of E, cold"), &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(stderr.String(), "making") {
		t.Errorf("data was made again:\n%s", &stderr)
	}

	// Without -before, only a job that needs it has rows of it: three figures.
	if n := strings.Count(stdout.String(), "not here: no -before"); n != 3 {
		t.Errorf("%d rows say that -before is missing, want 3:\n%s", n, &stdout)
	}
}

// refdata returns the directory of datasets that other programs wrote. It may be missing.
func refdata() string { return cmp.Or(os.Getenv("WKWFS_REFDATA"), "../../../shared/refdata") }

// wantedJobs returns how many jobs there are to do, and memory, which is the last row.
func wantedJobs() int {
	_, err := os.Stat(refdata())
	n := 1
	for _, j := range (&bench{}).jobs() {
		if err == nil || !strings.Contains(j.name, " of R") && !strings.Contains(j.name, " of Q") {
			n++
		}
	}
	return n
}

// checkReport holds that every job has figures of everybody who is there.
func checkReport(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var report struct{ Jobs []reported }
	if err := json.Unmarshal(b, &report); err != nil {
		t.Fatal(err)
	}
	if got, want := len(report.Jobs), wantedJobs(); got != want {
		t.Errorf("%d jobs, want %d", got, want)
	}
	for _, j := range report.Jobs {
		for _, c := range j.Contenders {
			if c.Absent != "" {
				t.Logf("%s: %s is not here: %s", j.Work, c.Name, c.Absent)
				continue
			}
			if len(c.Turns) == 0 {
				t.Errorf("%s: %s had no turn", j.Work, c.Name)
			}
			for _, turn := range c.Turns {
				if len(turn.Values) != len(j.Units) {
					t.Errorf("%s: %s measured %v of %v", j.Work, c.Name, turn.Values, j.Units)
				}
				for i, v := range turn.Values {
					served := !strings.HasSuffix(c.Name, byTheKernel)
					if v == 0 && (served || j.Units[i] != serverCPU) {
						t.Errorf("%s: %s measured 0 %s", j.Work, c.Name, j.Units[i])
					}
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"no such flag", []string{"-fast"}, "not defined"},
		{"no rounds", []string{"-rounds", "0"}, "expected at least 1"},
		{"no flag", []string{"fast"}, "none"},
		{"expression", []string{"-run", "("}, "missing closing )"},
		{"no program", []string{"-wkwfs", "/nowhere/wkwfs"}, "make build makes it"},
		{"no program before", []string{"-wkwfs", "/bin/true", "-before", "/nowhere/wkwfs"}, "make build makes it"},
		{"no job", []string{"-wkwfs", "/bin/true", "-run", "^x$"}, "no job has such a name"},
		{"no reference data", []string{"-wkwfs", "/bin/true", "-refdata", "/nowhere", "-run", "dd of R"}, "R and Q are left out"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			err := measure(t.Context(), append(test.args, "-dir", t.TempDir()), &stdout, &stderr)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
