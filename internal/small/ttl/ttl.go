// Package ttl says how long an answer of a source counts before the source is asked again.
//
// An answer counts for [Least]. If it took long, it counts longer, so that questions take at most a twentieth of the
// time. But it counts for [Most] at most: the source may have hung while it answered.
package ttl

import "time"

// The bounds of how long an answer counts. What costs a request or two counts for Least.
const (
	Least = time.Second
	Most  = time.Minute

	factor = 20
)

// AtLeast returns how long an answer counts that took so long, from when the source was asked. It is least, unless the
// answer took long.
func AtLeast(least, took time.Duration) time.Duration { return min(max(least, factor*took), Most) }

// Answer is when the source was asked, and how long the answer took. The zero Answer does not count.
type Answer struct {
	Asked time.Time
	Took  time.Duration
}

// Ask starts an Answer.
func Ask() Answer { return Answer{Asked: time.Now()} }

// End says that the answer is there.
func (a *Answer) End() { a.Took = time.Since(a.Asked) }

// Lifetime returns how long the answer counts, from when the source was asked.
func (a Answer) Lifetime() time.Duration { return AtLeast(Least, a.Took) }

// Counts reports whether the source need not be asked again.
func (a Answer) Counts() bool { return !a.Asked.IsZero() && time.Since(a.Asked) <= a.Lifetime() }

// IsRecent reports whether a time was less than Least ago: what was found out then counts.
func IsRecent(t time.Time) bool { return time.Since(t) < Least }
