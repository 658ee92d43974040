package batch

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// Part is part I of N parts; 1 ≤ I ≤ N. The zero value means that the work is not divided.
type Part struct{ I, N int }

// MaxParts is the largest number of parts.
const MaxParts = 100_000

// Auto is the word for a Part that the environment gives.
const Auto = "auto"

const howToWrite = "write --part 3/8, or --part auto in a job array"

// Whole reports whether the work is not divided.
func (p Part) Whole() bool { return p.N == 0 }

// First reports whether p does what is to be done once, and not for each item.
func (p Part) First() bool { return p.Whole() || p.I == 1 }

// String returns I/N, or nothing if the work is not divided.
func (p Part) String() string {
	if p.Whole() {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.I, p.N)
}

// Parse parses I/N, auto and auto/N. For auto it asks getenv for the variables that Slurm and Kubernetes set for a
// task. The errors are those of a command line.
func Parse(text string, getenv func(string) string) (Part, error) {
	first, last, divided := strings.Cut(text, "/")
	n := 0
	if divided {
		var ok bool
		if n, ok = parseNumber(last); !ok || n < 1 || n > MaxParts {
			return Part{}, hint.Usagef(howToWrite, "%q: expected 1 to %d parts, found %q", text, MaxParts, last)
		}
	}
	if first == Auto {
		return fromEnvironment(n, getenv)
	}
	i, ok := parseNumber(first)
	switch {
	case !divided || !ok:
		return Part{}, hint.Usagef(howToWrite, "%q is not a part", text)
	case i < 1 || i > n:
		return Part{}, hint.Usagef("parts are numbered from 1; --part auto numbers those of job arrays",
			"%q: expected part 1 to %d, found %d", text, n, i)
	}
	return Part{i, n}, nil
}

// parseNumber parses decimal digits.
func parseNumber(text string) (n int, ok bool) {
	v, err := strconv.ParseUint(text, 10, 32)
	return int(v), err == nil && v <= math.MaxInt32 && text[0] != '+'
}

// Variables of the environment of a task.
const (
	slurmID    = "SLURM_ARRAY_TASK_ID"
	slurmMin   = "SLURM_ARRAY_TASK_MIN"
	slurmMax   = "SLURM_ARRAY_TASK_MAX"
	slurmStep  = "SLURM_ARRAY_TASK_STEP"
	slurmCount = "SLURM_ARRAY_TASK_COUNT"
	kubernetes = "JOB_COMPLETION_INDEX"
)

// fromEnvironment returns the part of this task. n is the number of parts that the user gave, or 0.
func fromEnvironment(n int, getenv func(string) string) (Part, error) {
	switch {
	case getenv(slurmID) != "":
		return fromSlurm(n, getenv)
	case getenv(kubernetes) != "":
		return fromKubernetes(n, getenv)
	}
	return Part{},
		hint.Usagef("start it by sbatch --array, or as an indexed Job of Kubernetes; elsewhere write --part 3/8",
			"auto: neither %s nor %s is set", slurmID, kubernetes)
}

// fromKubernetes numbers the tasks of an indexed Job, whose indexes start at 0. Kubernetes does not tell them how many
// there are.
func fromKubernetes(n int, getenv func(string) string) (Part, error) {
	index, ok := parseNumber(getenv(kubernetes))
	switch {
	case !ok:
		return Part{}, hint.Usagef("", "auto: %s: expected a number, found %q", kubernetes, getenv(kubernetes))
	case n == 0:
		return Part{}, hint.Usagef("write --part auto/8 if the Job has completions: 8",
			"auto: Kubernetes does not tell how many parts there are")
	case index >= n:
		return Part{}, hint.Usagef("write --part auto/N with the completions of the Job as N",
			"auto/%d: %s is %d, which is above the last part", n, kubernetes, index)
	}
	return Part{index + 1, n}, nil
}

// array is an array of Slurm: the tasks low, low + step, … high. This is the task id.
type array struct {
	id, low, high, step, count int
}

// fromSlurm numbers the tasks of an array.
func fromSlurm(n int, getenv func(string) string) (Part, error) {
	a, err := readArray(getenv)
	if err != nil {
		return Part{}, err
	}
	// Slurm gives a task that is submitted again on its own, such as --array=7, an array of its own. It would then do
	// all of the work as part 1/1, or other parts than before.
	const again = "scontrol requeue runs a task of an array again; sbatch without --array runs one part, such as --part 7/8"
	regular := (a.high-a.low)/a.step + 1
	switch {
	case a.id < a.low || a.id > a.high || (a.id-a.low)%a.step != 0:
		return Part{}, hint.Usagef("", "auto: task %d is not in the array %v", a.id, a)
	case a.count != regular:
		return Part{}, hint.Usagef("give the array as a range, such as --array=1-8",
			"auto: the array %v has %d tasks: its parts cannot be numbered", a, a.count)
	case n > 0 && n != a.count:
		return Part{}, hint.Usagef(again, "auto/%d: the array %v has %d tasks", n, a, a.count)
	case a.low > 1 && a.low != a.step:
		return Part{}, hint.Usagef(again, "auto: the array %v starts at %d: expected 0 or 1", a, a.low)
	case a.count > MaxParts:
		return Part{}, hint.Usagef("", "auto: the array %v has %d tasks: expected at most %d", a, a.count, MaxParts)
	}
	return Part{(a.id-a.low)/a.step + 1, a.count}, nil
}

// readArray reads the variables of Slurm. Old versions give no count, and an array without a step has the step 1.
func readArray(getenv func(string) string) (array, error) {
	a := array{step: 1}
	for _, v := range []struct {
		name     string
		to       *int
		optional bool
	}{{slurmID, &a.id, false}, {slurmMin, &a.low, false}, {slurmMax, &a.high, false}, {slurmStep, &a.step, true},
		{slurmCount, &a.count, true}} {
		text := getenv(v.name)
		if text == "" && v.optional {
			continue
		}
		var ok bool
		if *v.to, ok = parseNumber(text); !ok {
			return array{}, hint.Usagef("write --part I/N", "auto: %s is set, but %s is not a number: %q", slurmID,
				v.name, text)
		}
	}
	if a.step < 1 || a.high < a.low {
		return array{}, hint.Usagef("write --part I/N", "auto: the array %v has no tasks", a)
	}
	if getenv(slurmCount) == "" {
		a.count = (a.high-a.low)/a.step + 1
	}
	return a, nil
}

// String returns the array as sbatch takes it.
func (a array) String() string {
	text := fmt.Sprintf("%d-%d", a.low, a.high)
	if a.step != 1 {
		text += fmt.Sprintf(":%d", a.step)
	}
	return text
}
