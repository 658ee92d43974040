package torture

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// tried is a case with a part of each kind.
type tried struct {
	Numbers []int          `json:"numbers"`
	Words   map[string]any `json:"words"`
	Text    string         `json:"text"`
	Seed    Seed           `json:"seed"`
}

func generateTried(r *rand.Rand) tried {
	c := tried{Words: map[string]any{}, Text: strings.Repeat("sound ", r.IntN(10)) + "bad" + strings.Repeat(" sound",
		r.IntN(10)), Seed: Seed(r.Uint64())}
	for range 5 + r.IntN(50) {
		c.Numbers = append(c.Numbers, r.IntN(1000))
	}
	c.Words["list"] = []any{1.0, "bad", map[string]any{"other": true}}
	c.Words["other"] = "word"
	return c
}

// TestShrink makes a case small. Parts without which it still fails are left out, and the seed stays.
func TestShrink(t *testing.T) {
	c := generateTried(rand.New(rand.NewPCG(1, 2)))
	c.Numbers = append(c.Numbers, 700, 3, 800, 5)
	small, tries := shrink(c, func(candidate any) bool {
		c := candidate.(tried)
		list, _ := c.Words["list"].([]any)
		return slices.IndexFunc(c.Numbers, func(n int) bool { return n > 600 }) < slices.Index(c.Numbers, 3) &&
			slices.Contains(list, any("bad")) && strings.Contains(c.Text, "bad")
	}, func() bool { return true })
	got := small.(tried)
	// The first condition also holds if no number is above 600.
	want := tried{Numbers: []int{3}, Words: map[string]any{"list": []any{"bad"}}, Text: "bad", Seed: c.Seed}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v after %d tries, want %+v", got, tries, want)
	}
}

// TestShrinkEnds checks that shrink ends when the time is over.
func TestShrinkEnds(t *testing.T) {
	left := 3
	if _, tries := shrink(tried{Text: strings.Repeat("a", 100)}, func(c any) bool { return c.(tried).Text != "" },
		func() bool { left--; return left >= 0 }); tries != 3 {
		t.Errorf("%d tries", tries)
	}
}

// TestCasesAreDeterministic generates cases twice. The seed, the name and the number determine them.
func TestCasesAreDeterministic(t *testing.T) {
	run := func(testing.TB, tried) {}
	a, b := New("a", generateTried, run), New("b", generateTried, run)
	for n := range 20 {
		if !reflect.DeepEqual(a.caseOf(7, n), a.caseOf(7, n)) {
			t.Errorf("case %d: twice the same seed, two cases", n)
		}
		if reflect.DeepEqual(a.caseOf(7, n), a.caseOf(8, n)) || reflect.DeepEqual(a.caseOf(7, n), b.caseOf(7, n)) ||
			reflect.DeepEqual(a.caseOf(7, n), a.caseOf(7, n+1)) {
			t.Errorf("case %d: another seed, trial or number, and the same case", n)
		}
	}
}

// TestCasesAreTheirJSON parses a case from its printed JSON.
func TestCasesAreTheirJSON(t *testing.T) {
	trial := New("a", generateTried, func(testing.TB, tried) {})
	want := trial.caseOf(7, 1)
	got, err := trial.Parse([]byte(format(want)))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v; %v", got, want, err)
	}
	if _, err := trial.Parse([]byte(`{"nubmers":[]}`)); err == nil {
		t.Error("an unknown name was accepted")
	}
}

// TestProbe runs functions that fail, end, panic or skip. The test itself does not fail.
func TestProbe(t *testing.T) {
	var order []string
	for _, c := range []struct {
		name, want string
		do         func(testing.TB)
	}{
		{"passes", "", func(t testing.TB) { t.Log("a word") }},
		{"fails twice", "one\ntwo 2", func(t testing.TB) { t.Error("one"); t.Errorf("two %d", 2) }},
		{"ends", "the end", func(t testing.TB) { t.Fatal("the end"); t.Error("after the end") }},
		{"skips", "", func(t testing.TB) { t.Skip("makes no sense") }},
		{"is silent", "failed without a message", func(t testing.TB) { t.FailNow() }},
		{"cleans up", "last", func(t testing.TB) {
			t.Cleanup(func() { order = append(order, "first"); t.Error("last") })
			t.Cleanup(func() { order = append(order, "second") })
		}},
	} {
		if got := runProbe(t, c.do).report(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if !slices.Equal(order, []string{"second", "first"}) {
		t.Errorf("cleaned up in the order %v", order)
	}
	if got := runProbe(t, func(testing.TB) { panic("at once") }).report(); !strings.HasPrefix(got,
		"panic in the trial: at once\n") {
		t.Errorf("panics: got %q", got)
	}
	var dir string
	runProbe(t, func(t testing.TB) { dir = t.TempDir() })
	if _, err := os.Stat(dir); dir == "" || !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", dir, err)
	}
}

// TestRunReports runs several trials, one of which fails. The run goes on with the others. It fails, and its output has
// the seed and the smallest case.
func TestRunReports(t *testing.T) {
	ran := map[string]int{}
	trial := func(name string, fails func(tried) bool) Trial {
		return New(name, generateTried, func(t testing.TB, c tried) {
			ran[name]++
			if err := os.WriteFile(filepath.Join(os.TempDir(), "left"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if fails(c) {
				t.Errorf("broken by %q", c.Text)
			}
		})
	}
	before := os.TempDir()
	good, bad := trial("good", func(tried) bool { return false }),
		trial("bad", func(c tried) bool { return strings.Contains(c.Text, "bad") })
	watcher := runProbe(t, func(t testing.TB) {
		m := machine{t, Options{Seed: 9, Shrink: time.Minute, Limit: time.Minute, Again: "make again "}, time.Time{},
			map[string]int{}}
		m.takeTurns([]Trial{bad, good})
	})
	report := watcher.report()
	for _, want := range []string{"bad, case 0 of seed 9", `broken by "bad"`, `"text":"bad"`, "make again bad",
		"-torture.seed=9", "-torture.case="} {
		if !strings.Contains(report, want) {
			t.Errorf("the report lacks %q:\n%s", want, report)
		}
	}
	if ran["good"] != 1 || ran["bad"] < 3 {
		t.Errorf("ran %v", ran)
	}
	if os.TempDir() != before {
		t.Errorf("temporary files now go to %s", os.TempDir())
	}
}

// TestRunEnds runs a case that never ends.
func TestRunEnds(t *testing.T) {
	hangs := make(chan struct{})
	defer close(hangs)
	trial := New("hangs", generateTried, func(testing.TB, tried) { <-hangs })
	report := runProbe(t, func(t testing.TB) {
		machine{t, Options{Limit: time.Millisecond}, time.Time{}, map[string]int{}}.takeTurns([]Trial{trial})
	}).report()
	if !strings.Contains(report, "hangs: a case did not end within 1ms: {") {
		t.Errorf("got %q", report)
	}
}
