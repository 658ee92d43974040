package ttl

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestAnswer: an answer counts for a second, for 20 times as long as it took, or for a minute. The zero Answer never
// counts.
func TestAnswer(t *testing.T) {
	for _, c := range []struct{ took, counts time.Duration }{
		{0, time.Second}, {50 * time.Millisecond, time.Second}, {51 * time.Millisecond, 1020 * time.Millisecond},
		{3 * time.Second, time.Minute}, {time.Hour, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := Ask()
			time.Sleep(c.took)
			a.End()
			time.Sleep(max(0, c.counts-c.took))
			if got, want := a.Counts(), c.took <= c.counts; got != want || a.Lifetime() != c.counts {
				t.Errorf("took %v: counts %v, for %v, expected %v", c.took, got, a.Lifetime(), c.counts)
			}
			time.Sleep(time.Nanosecond)
			if a.Counts() {
				t.Errorf("took %v: counts after %v", c.took, c.counts)
			}
		})
	}
	if (Answer{}).Counts() || IsRecent(time.Time{}) || !IsRecent(time.Now()) || IsRecent(time.Now().Add(-Least)) {
		t.Error("the zero time is recent, or now is not")
	}
}

// TestAtLeast: another least time than a second counts, too.
func TestAtLeast(t *testing.T) {
	for _, c := range [][3]time.Duration{{5, 0, 5}, {5, 1, 20}, {time.Hour, 0, Most}} {
		if got := AtLeast(c[0], c[1]); got != c[2] {
			t.Errorf("at least %v, took %v: got %v, expected %v", c[0], c[1], got, c[2])
		}
	}
}
