package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/jobs/sample"
)

// writeReports checks the damaged cubes in n parts, and returns the reports.
func writeReports(t *testing.T, source string, n int) (reports []string) {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		var stdout, stderr bytes.Buffer
		run([]string{"check", "--json", fmt.Sprintf("--part=%d/%d", i+1, n), source}, &stdout, &stderr)
		if stderr.Len() > 0 {
			t.Fatal(stderr.String())
		}
		name := filepath.Join(dir, fmt.Sprintf("report-%d.json", i+1))
		if err := os.WriteFile(name, stdout.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, name)
	}
	return reports
}

// checkSample writes a dataset without damage.
func checkSample(t *testing.T, dir string) {
	t.Helper()
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
}

func readAll(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeAll(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// checkLines runs wkwfs check, and returns the sorted lines that it prints, without the time that it took.
func checkLines(t *testing.T, wantCode int, wantError string, args ...string) []string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(append([]string{"check"}, args...), &stdout, &stderr); code != wantCode {
		t.Errorf("%v: exit code %d, want %d", args, code, wantCode)
	}
	if got := stderr.String(); (got == "") != (wantError == "") || !strings.Contains(got, wantError) {
		t.Errorf("%v: got %q, want %q", args, got, wantError)
	}
	text := regexp.MustCompile(` in \S+ \(.*/s\)|"seconds":[^,}]*`).ReplaceAllString(stdout.String(), "")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return lines
}

// TestMergeOfChecks: the merged reports of all parts are the report of a check of the whole source, as text and as
// JSON.
func TestMergeOfChecks(t *testing.T) {
	source := "../../testdata/damaged"
	reports := writeReports(t, source, 5)
	want := checkLines(t, 1, "", source)
	for _, args := range [][]string{
		reports,
		{reports[4], reports[3], reports[2], reports[1], reports[0]},
		append(slices.Clone(reports), reports...),
		append(slices.Clone(reports), writeReports(t, source, 5)...),
	} {
		if got := checkLines(t, 1, "", append([]string{"--merge"}, args...)...); !slices.Equal(got, want) {
			t.Errorf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	want = checkLines(t, 1, "", "--json", source)
	if got := checkLines(t, 1, "", append([]string{"--json", "--merge"}, reports...)...); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	joined := filepath.Join(t.TempDir(), "joined.json")
	var all []byte
	for _, r := range reports {
		all = append(all, readAll(t, r)...)
	}
	writeAll(t, joined, all)
	if got := checkLines(t, 1, "", "--json", "--merge", joined); !slices.Equal(got, want) {
		t.Errorf("of joined reports: got\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestMergeNamesMissingParts: parts without a complete report are missing. Their names are printed, and the exit code
// is 1.
func TestMergeNamesMissingParts(t *testing.T) {
	source := filepath.Join(t.TempDir(), "sound")
	checkSample(t, source)
	reports := writeReports(t, source, 8)
	checkLines(t, 0, "", append([]string{"--merge"}, reports...)...)
	checkLines(t, 1, "of 8 parts, 3 is missing\n",
		append([]string{"--merge"}, slices.Delete(slices.Clone(reports), 2, 3)...)...)
	checkLines(t, 1, "of 8 parts, 1, 3-7 are missing\nhint: wkwfs check --json --part 1/8 SOURCE", "--merge",
		reports[1], reports[7])

	// A check that was killed, in the middle of a line, or interrupted.
	whole := readAll(t, reports[2])
	writeAll(t, reports[2], whole[:len(whole)-2])
	checkLines(t, 1, "of 8 parts, 3 is missing\n", append([]string{"--merge"}, reports...)...)
	writeAll(t, reports[2], bytes.Replace(whole, []byte(`"part":`), []byte(`"interrupted":true,"part":`), 1))
	checkLines(t, 1, "of 8 parts, 3 is missing\n", append([]string{"--merge"}, reports...)...)
	writeAll(t, reports[2], nil)
	checkLines(t, 1, "of 8 parts, 3 is missing\n", append([]string{"--merge"}, reports...)...)
	checkLines(t, 1, "no report of a part is complete", "--merge", reports[2])

	// A part that was run again counts as it was the last time.
	again := filepath.Join(t.TempDir(), "again.json")
	writeAll(t, again, whole)
	if got := checkLines(t, 0, "", append([]string{"--merge", again}, reports...)...); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}

// TestMergeErrors: reports that do not belong together are errors.
func TestMergeErrors(t *testing.T) {
	source := filepath.Join(t.TempDir(), "sound")
	checkSample(t, source)
	reports := writeReports(t, source, 2)
	other := writeReports(t, source, 3)
	checkLinesOf := func(wantError string, args ...string) {
		t.Helper()
		checkLines(t, 1, wantError, append([]string{"--merge"}, args...)...)
	}
	checkLinesOf("the reports before are of 2 parts", reports[0], other[1])

	file := filepath.Join(t.TempDir(), "whole.json")
	writeAll(t, file, []byte(`{"summary":{"cubes":1}}`+"\n"))
	checkLinesOf("expected one of --part", file)
	writeAll(t, file, []byte("hello\n"))
	checkLinesOf("line 1 is not of a report", file)
	writeAll(t, file, []byte(`{"summary":{"part":{"i":7,"n":3}}}`+"\n"))
	checkLinesOf("part 7/3 does not exist", file)
	checkLinesOf("no such file", filepath.Join(t.TempDir(), "absent"))
	checkLines(t, 2, "--part is not for --merge", "--merge", "--part=1/2", reports[0])
	checkLines(t, 2, "missing REPORT", "--merge")
	checkLines(t, 2, "missing SOURCE")

	if err := os.RemoveAll(filepath.Join(source, "color/1/z0")); err != nil {
		t.Fatal(err)
	}
	checkLinesOf("the source has changed between the parts", reports[0], writeReports(t, source, 2)[1])
}
