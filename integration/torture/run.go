package torture

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Options are the options of [Run].
type Options struct {
	Seed   uint64
	Time   time.Duration // no case starts after it; 0: each trial runs one case
	Shrink time.Duration // for making one case smaller
	Limit  time.Duration // for one run of a case
	Again  string        // the command that runs a trial, for a report; the name of the trial and flags follow
}

// Run takes turns between the trials. The test fails if a case fails. A trial that has failed runs no other case. The
// others continue.
func Run(t *testing.T, o Options, trials ...Trial) {
	t.Helper()
	machine{t, o, time.Now().Add(o.Time), map[string]int{}}.takeTurns(trials)
}

// machine is one call of Run.
type machine struct {
	t       testing.TB
	o       Options
	end     time.Time
	skipped map[string]int // cases of each trial that skipped themselves
}

func (m machine) takeTurns(trials []Trial) {
	m.t.Logf("seed %d", m.o.Seed)
	ran := map[string]int{}
	left := slices.Clone(trials)
	for n := 0; len(left) > 0; n++ {
		left = slices.DeleteFunc(left, func(trial Trial) bool {
			if n > 0 && !time.Now().Before(m.end) {
				return true
			}
			ran[trial.Name]++
			return !m.try(trial, n)
		})
	}
	for _, trial := range trials {
		m.t.Logf("%s: %d cases, of which %d were skipped", trial.Name, ran[trial.Name], m.skipped[trial.Name])
	}
}

// passesTwice runs a case up to twice and reports whether it passes each time.
func (m machine) passesTwice(trial Trial, c any) bool {
	for range 2 {
		if m.once(trial, c) != "" {
			return false
		}
	}
	return true
}

// try runs case n of a trial. If the case fails, try makes it smaller, reports both cases and returns false.
func (m machine) try(trial Trial, n int) bool {
	c := trial.caseOf(m.o.Seed, n)
	failure := m.once(trial, c)
	if failure == "" {
		return true
	}
	where := fmt.Sprintf("%s, case %d of seed %d", trial.Name, n, m.o.Seed)
	again := fmt.Sprintf("again: %s%s -torture.seed=%d -torture.case=", m.o.Again, trial.Name, m.o.Seed)
	m.t.Logf("%s failed; it is being made smaller:\n%s", where, failure)
	if m.passesTwice(trial, c) {
		m.t.Errorf("%s failed once, and passed twice after that:\n%s\n%s'%s'", where, failure, again, format(c))
		return false
	}
	end := time.Now().Add(m.o.Shrink)
	last := failure
	fails := func(candidate any) bool {
		found := m.once(trial, candidate)
		if kindOf(found) != kindOf(failure) {
			return false
		}
		last = found
		return true
	}
	small, tries := shrink(c, fails, func() bool { return time.Now().Before(end) })
	m.t.Errorf("%s: %s\nmade smaller in %d tries, from %d to %d bytes:\n%s\n%s'%s'", where, last, tries, len(format(c)),
		len(format(small)), format(small), again, format(small))
	return false
}

// kindOf returns the words of a failure: its first line without numbers, paths and quotes. A smaller case must fail in
// the same way.
func kindOf(failure string) string {
	line, _, _ := strings.Cut(failure, "\n")
	return specific.ReplaceAllString(line, "")
}

var specific = regexp.MustCompile(`"[^"]*"|\S*[/0-9]\S*`)

// once runs a case in its own temporary directory, and returns its failures as text, or "". A case that takes longer
// than Limit ends the test, because its goroutine cannot be stopped.
func (m machine) once(trial Trial, c any) string {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		m.t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		m.t.Fatal(err)
	}
	defer setTempDir(m.t, dir)()
	ended := make(chan *probe, 1)
	go func() { ended <- runProbe(m.t, func(t testing.TB) { trial.run(t, c) }) }()
	select {
	case p := <-ended:
		failure := p.report()
		if p.Skipped() {
			m.skipped[trial.Name]++
		}
		if err := os.RemoveAll(dir); err != nil && failure == "" {
			failure = err.Error()
		}
		return failure
	case <-time.After(m.o.Limit):
		m.t.Fatalf("%s: a case did not end within %v: %s", trial.Name, m.o.Limit, format(c))
		return ""
	}
}

// setTempDir sets the directory of temporary files, and returns a function that restores the former one.
func setTempDir(t testing.TB, dir string) (undo func()) {
	const variable = "TMPDIR"
	before, set := os.LookupEnv(variable)
	if err := os.Setenv(variable, dir); err != nil {
		t.Fatal(err)
	}
	return func() {
		err := os.Unsetenv(variable)
		if set {
			err = os.Setenv(variable, before)
		}
		if err != nil {
			t.Error(err)
		}
	}
}
