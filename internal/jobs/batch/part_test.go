package batch

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// TestParse parses what users write, and what Slurm and Kubernetes tell a task.
func TestParse(t *testing.T) {
	slurm := func(id, low, high, step, count string) map[string]string {
		return map[string]string{slurmID: id, slurmMin: low, slurmMax: high, slurmStep: step, slurmCount: count}
	}
	index := func(i string) map[string]string { return map[string]string{kubernetes: i} }
	for _, test := range []struct {
		text string
		env  map[string]string
		want Part
		err  string // a part of it
	}{
		{"1/1", nil, Part{1, 1}, ""},
		{"3/8", nil, Part{3, 8}, ""},
		{"8/8", slurm("1", "1", "4", "1", "4"), Part{8, 8}, ""},
		{"100000/100000", nil, Part{100_000, 100_000}, ""},
		{"0/8", nil, Part{}, "expected part 1 to 8, found 0"},
		{"9/8", nil, Part{}, "expected part 1 to 8, found 9"},
		{"1/100001", nil, Part{}, "expected 1 to 100000 parts"},
		{"1/0", nil, Part{}, "expected 1 to 100000 parts"},
		{"1/", nil, Part{}, "expected 1 to 100000 parts"},
		{"1/-3", nil, Part{}, "expected 1 to 100000 parts"},
		{"1/99999999999999999999", nil, Part{}, "expected 1 to 100000 parts"},
		{"+1/3", nil, Part{}, "is not a part"},
		{"-1/3", nil, Part{}, "is not a part"},
		{"1/2/3", nil, Part{}, "expected 1 to 100000 parts"},
		{"", nil, Part{}, "is not a part"},
		{"3", nil, Part{}, "is not a part"},
		{"all", nil, Part{}, "is not a part"},
		{"/3", nil, Part{}, "is not a part"},

		{"auto", nil, Part{}, "neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set"},
		{"auto/8", nil, Part{}, "neither"},

		{"auto", slurm("0", "0", "7", "1", "8"), Part{1, 8}, ""},
		{"auto", slurm("7", "0", "7", "1", "8"), Part{8, 8}, ""},
		{"auto", slurm("1", "1", "8", "1", "8"), Part{1, 8}, ""},
		{"auto/8", slurm("8", "1", "8", "1", "8"), Part{8, 8}, ""},
		{"auto", slurm("6", "0", "14", "2", "8"), Part{4, 8}, ""},
		{"auto", slurm("6", "0", "15", "2", "8"), Part{4, 8}, ""},
		{"auto", slurm("30", "10", "40", "10", "4"), Part{3, 4}, ""},
		{"auto", slurm("3", "1", "4", "", ""), Part{3, 4}, ""},
		{"auto", slurm("0", "0", "0", "1", "1"), Part{1, 1}, ""},
		{"auto", slurm("3", "1", "4", "2", "2"), Part{2, 2}, ""},
		{"auto", slurm("3", "", "4", "1", ""), Part{}, "SLURM_ARRAY_TASK_MIN is not a number"},
		{"auto", slurm("3", "1", "", "1", ""), Part{}, "SLURM_ARRAY_TASK_MAX is not a number"},
		{"auto", slurm("x", "1", "4", "1", "4"), Part{}, "SLURM_ARRAY_TASK_ID is not a number"},
		{"auto", slurm("3", "1", "4", "x", "4"), Part{}, "SLURM_ARRAY_TASK_STEP is not a number"},
		{"auto", slurm("3", "1", "4", "0", "4"), Part{}, "no tasks"},
		{"auto", slurm("3", "4", "1", "1", "4"), Part{}, "no tasks"},
		{"auto", slurm("9", "1", "4", "1", "4"), Part{}, "task 9 is not in the array 1-4"},
		{"auto", slurm("2", "1", "5", "2", "3"), Part{}, "task 2 is not in the array 1-5:2"},
		{"auto", slurm("5", "1", "7", "1", "3"), Part{}, "the array 1-7 has 3 tasks"},
		{"auto", slurm("7", "7", "7", "1", "1"), Part{}, "starts at 7: expected 0 or 1"},
		{"auto", slurm("5", "3", "6", "1", "4"), Part{}, "starts at 3"},
		{"auto/8", slurm("7", "7", "7", "1", "1"), Part{}, "the array 7-7 has 1 tasks"},
		{"auto/8", slurm("0", "0", "3", "1", "4"), Part{}, "the array 0-3 has 4 tasks"},
		{"auto", slurm("0", "0", "100000", "1", "100001"), Part{}, "at most 100000"},

		{"auto/8", index("0"), Part{1, 8}, ""},
		{"auto/8", index("7"), Part{8, 8}, ""},
		{"auto", index("0"), Part{}, "Kubernetes does not tell how many parts there are"},
		{"auto/8", index("8"), Part{}, "JOB_COMPLETION_INDEX is 8"},
		{"auto/8", index("x"), Part{}, "expected a number"},
	} {
		env := maps.Clone(test.env)
		got, err := Parse(test.text, func(name string) string { return env[name] })
		if got != test.want || (err == nil) != (test.err == "") ||
			err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q with %v: got %v, %v; want %v, %q", test.text, test.env, got, err, test.want, test.err)
		}
		if usage, ok := errors.AsType[*hint.Error](err); err != nil && (!ok || !usage.Usage) {
			t.Errorf("%q with %v: %v is no error of the command line", test.text, test.env, err)
		}
	}
}

// TestPartText: a part that is printed can be given again.
func TestPartText(t *testing.T) {
	if got := (Part{3, 8}).String(); got != "3/8" {
		t.Errorf("got %q", got)
	}
	if got := (Part{}).String(); got != "" || !(Part{}).Whole() || !(Part{}).First() || !(Part{1, 2}).First() ||
		(Part{2, 2}).First() {
		t.Errorf("of no part: got %q", got)
	}
}
