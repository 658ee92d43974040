package integration

import (
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// randomCase is a random dataset and random steps on a mount of it. Each step has a seed of its own, so that it
// stays the same when other steps are removed.
type randomCase struct {
	Source torture.Seed   `json:"source"`
	Steps  []torture.Seed `json:"steps"`
}

// newRandomCase returns a case of 1 to limit steps.
func newRandomCase(r *rand.Rand, limit int) randomCase {
	c := randomCase{Source: torture.Seed(r.Uint64())}
	for range 1 + r.IntN(limit) {
		c.Steps = append(c.Steps, torture.Seed(r.Uint64()))
	}
	return c
}

// run runs the steps. If delay is not 0, the source answers late, and changes show after that delay.
func (c randomCase) run(t testing.TB, delay time.Duration) {
	r := c.Source.Rand()
	source, layers := randomSource(t, r)
	changes := 8
	if delay > 0 {
		source = serveLate(t, source, "-read", "2ms", "-metadata", "300us", "-shuffle").Dir
		changes = 1
	}
	mounted := mountWatched(t, source, randomOf(r, []int{0, 10 << 10, 64 << 20}))
	if r.IntN(8) == 0 {
		mounted.closesAll()
	}
	s := &session{t: t, dir: mounted.dir, layers: layers}
	defer func() {
		for _, o := range s.files {
			o.file.Close()
		}
	}()
	kinds := s.kinds(changes)
	for n, seed := range c.Steps {
		s.r = seed.Rand()
		kind := kinds.pick(s.r)
		var err error
		mounted.request(t, kind.name, func() { err = kind.do() })
		if err != nil {
			t.Fatalf("step %d, %s: %v\nthe steps before it:\n%s", n, kind.name, err,
				strings.Join(s.trail[max(0, len(s.trail)-40):], "\n"))
		}
		if kind.name == "change" {
			time.Sleep(delay + surveyDelay(t, source, delay))
		}
	}
}

// surveyDelay returns how much later a change of a late source shows because the machine is busy: a survey is valid for
// 20 times as long as it took, if that is more than the second that delay contains. Reading all directories one after
// the other takes longer than a survey.
func surveyDelay(t testing.TB, source string, delay time.Duration) time.Duration {
	t.Helper()
	if delay == 0 {
		return 0
	}
	start := time.Now()
	if err := filepath.WalkDir(source, func(string, fs.DirEntry, error) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return min(max(20*time.Since(start)-time.Second, 0), time.Minute)
}

// stepKind is a kind of step. Kinds are chosen in proportion to their weights.
type stepKind struct {
	weight int
	name   string
	do     func() error
}

type stepKinds []stepKind

// kinds returns all kinds of steps. changes is the weight of changes of the source.
func (s *session) kinds(changes int) stepKinds {
	return stepKinds{
		{20, "open", s.openAny}, {40, "pread", s.pread}, {10, "mmap", s.mmap}, {8, "seek", s.seek},
		{5, "stat", s.stat}, {5, "list", s.list}, {8, "close", s.closeAny}, {changes, "change", s.change},
		{1, "drop caches", s.dropCaches},
	}
}

// pick chooses a kind by its weight.
func (all stepKinds) pick(r *rand.Rand) stepKind {
	total := 0
	for _, k := range all {
		total += k.weight
	}
	n := r.IntN(total)
	for _, k := range all {
		if n -= k.weight; n < 0 {
			return k
		}
	}
	panic("unreachable")
}
