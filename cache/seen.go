package cache

import (
	"sync/atomic"
	"time"
)

// seen remembers, for a while, which blocks were asked for and when: about the last blocks, some times as many as the budget
// has room for. It is a table of buckets, in each of which a new block takes the place of the oldest. It knows blocks by 24 bits of
// their hashes, and times in seconds modulo 256, so that it is sometimes wrong; nothing but speed depends on it.
type seen []bucket

type bucket [4]atomic.Uint32 // the newest first: 24 bits of hash, 8 of time

// past is when a block was asked for before.
type past int

const (
	unseen  past = iota
	lately       // in this second or the last one: perhaps by the same few reads, all of which need it
	earlier      // a reader has returned to it
)

func newSeen(budget int64) seen {
	n := 1 << 10
	for int64(n) < 4*budget/usualBlock {
		n *= 2
	}
	return make(seen, n)
}

// ask records that the block with the hash is asked for, and returns when that was so for the first time.
func (s seen) ask(h uint64, now time.Time) past {
	b, block, second := &s[h%uint64(len(s))], uint32(h>>40)<<8, uint32(now.Unix())&0xFF
	for i := range b {
		switch known := b[i].Load(); {
		case known&^0xFF != block:
		case (second-known)&0xFF <= 1:
			return lately
		default:
			return earlier
		}
	}
	for i := len(b) - 1; i > 0; i-- {
		b[i].Store(b[i-1].Load())
	}
	b[0].Store(block | second)
	return unseen
}
