package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestMain lets the program start itself as a server, as it does in earnest.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveMemory {
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
	args := []string{"-tiny", "-rounds", "2", "-dir", filepath.Join(dir, "data"), "-wkwfs", program, "-json", report}
	var stdout, stderr bytes.Buffer
	if err := measure(t.Context(), args, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	t.Log("\n" + stdout.String())
	checkReport(t, report)
	if left, err := filepath.Glob(filepath.Join(dir, "wkwfs-bench-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}

	// What was made is not made again.
	stderr.Reset()
	if err := measure(t.Context(), append(args, "-run", "decoding of E"), &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(stderr.String(), "making") {
		t.Errorf("data was made again:\n%s", &stderr)
	}
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
	if got, want := len(report.Jobs), len((&bench{}).jobs())+1; got != want {
		t.Errorf("%d jobs, want %d: those that there are, and memory", got, want)
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
				if len(turn.Values) != len(j.Units) || slices.Contains(turn.Values, 0) {
					t.Errorf("%s: %s measured %v of %v", j.Work, c.Name, turn.Values, j.Units)
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
		{"no job", []string{"-wkwfs", "/bin/true", "-run", "^x$"}, "no job has such a name"},
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

// TestWrongBytes holds that nobody is compared who reads something else.
func TestWrongBytes(t *testing.T) {
	m, err := tiny.em().make(t.Context(), t.TempDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	flat, err := m.flatFile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	right, err := os.ReadFile(flat)
	if err != nil {
		t.Fatal(err)
	}
	wrong := bytes.Clone(right)
	wrong[100_000]++
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"right", right, ""},
		{"one voxel", wrong, "bytes 0 to 131072 are not those"},
		{"short", right[:200_000], "from byte 131072 on: unexpected EOF"},
		{"long", append(bytes.Clone(right), 0), "at byte 262144: expected the end, found 1 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := m.compare(t.Context(), bytes.NewReader(test.data))
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestRatioAndVerdict(t *testing.T) {
	o := outcome{
		job: job{
			figures:    []figure{{"GB/s", []bound{atLeast(2, "other"), atMost(1, "third"), atMost(4, "")}}},
			contenders: []contender{{name: "ours"}, {name: "other"}, {name: "third"}},
		},
		turns: [][]turn{
			{{values: []float64{2}}, {values: []float64{4}}, {values: []float64{9}}},
			{{values: []float64{1}}, {values: []float64{1}}, {values: []float64{9}}},
			{{values: []float64{2}}, {values: []float64{2}}, {values: []float64{9}}},
		},
	}
	for i, want := range [][]string{
		{"4", "9", "", "≤ 4", "met"},
		{"1", "9", "2 ×", "≥ 2", "met"}, // of 2, 4 and 1
		{"2", "9", "1 ×", "≤ 1", "met"},
	} {
		row := o.row(i, 0)
		if got := []string{row[2], row[3], row[7], row[8], row[9]}; !slices.Equal(got, want) {
			t.Errorf("contender %d: %q, want %q", i, got, want)
		}
	}
	if _, verdict := o.figures[0].judge("other", 1.99); verdict != "missed" {
		t.Errorf("less than wanted is %q", verdict)
	}
}

func TestOrder(t *testing.T) {
	if got := [][]int{order(3, 0), order(3, 1)}; !slices.Equal(got[0], []int{0, 1, 2}) || !slices.Equal(got[1], []int{2, 1, 0}) {
		t.Error(got)
	}
}

// TestPlacesHaveNothingInCommon holds that no read finds what another one decoded.
func TestPlacesHaveNothingInCommon(t *testing.T) {
	m := mag{piece: usual.em()}
	rows := map[int64]bool{}
	for _, off := range m.offsets() {
		y, z := off/1024%1024/blockSide, off/(1<<20)/blockSide
		if off%page != 0 || rows[z*32+y] {
			t.Errorf("offset %d", off)
		}
		rows[z*32+y] = true
	}
	if len(rows) != mostReads {
		t.Errorf("%d offsets", len(rows))
	}
	layers := map[int]bool{}
	for _, z := range m.planes() {
		layers[z/blockSide] = true
	}
	if len(layers) != mostPlanes {
		t.Errorf("%d layers", len(layers))
	}
}

func TestDivide(t *testing.T) {
	for _, test := range []struct {
		size volume.Vec
		n    int
		want int // parts
	}{
		{volume.Vec{32, 32, 32}, 16, 16},
		{volume.Vec{32, 32, 1}, 16, 16},
		{volume.Vec{5, 1, 1}, 4, 3},
		{volume.Vec{1, 1, 1}, 8, 1},
	} {
		box := volume.Box{Min: volume.Vec{3, 4, 5}, Max: volume.Vec{3, 4, 5}.Add(test.size)}
		var sum int
		var all volume.Box
		parts := divide(box, test.n)
		for _, p := range parts {
			size := p.Size()
			sum += size[0] * size[1] * size[2]
			all = all.Union(p)
		}
		if len(parts) != test.want || all != box || sum != test.size[0]*test.size[1]*test.size[2] {
			t.Errorf("%v by %d: %v", test.size, test.n, parts)
		}
	}
}
