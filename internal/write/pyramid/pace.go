package pyramid

import (
	"sync/atomic"
	"time"
)

// The speed of writes past the page cache is measured for each paceBytes. A disk that writes fewer than slowBytes in a
// second may be slow because one write is in flight, or because it has to seek: the page cache would write more at a
// time, in the order of the disk.
const (
	paceBytes = 64 << 20
	slowBytes = 400 << 20
)

// pace is how fast a disk writes.
type pace struct {
	bytes int
	spent time.Duration
	slow  atomic.Bool // it was slow once
}

// add counts a write.
func (p *pace) add(n int, spent time.Duration) {
	p.bytes += n
	p.spent += spent
	if p.bytes < paceBytes {
		return
	}
	if float64(p.bytes) < slowBytes*p.spent.Seconds() {
		p.slow.Store(true)
	}
	p.bytes, p.spent = 0, 0
}
