package batch

import (
	"fmt"
	"hash/fnv"
	"math/bits"
	"sync"
)

// groups is the number of groups that a plan has: far more than parts, so that parts of groups are about equal.
const groups = 1 << 20

// Plan is the work of all parts: items with their stored bytes. It takes 12 MiB, for any number of items.
//
// An item is in one of [groups] groups, by its name. So the plan does not depend on the order of the items: a large
// directory is listed in any order, which may differ between machines. Neighbours are in different groups. So parts
// also take about equal time where some regions of a dataset are harder to read than others.
//
// Several goroutines may call Add at a time.
type Plan struct {
	mu          sync.Mutex
	bytes       []int64  // of each group
	items       []uint32 // of each group
	total       int64    // bytes
	fingerprint uint64
}

// NewPlan returns a plan without items.
func NewPlan() *Plan {
	return &Plan{bytes: make([]int64, groups), items: make([]uint32, groups)}
}

// Add adds an item. Its name is unique in the plan, and the same in all tasks. An item without bytes counts as one
// byte.
func (p *Plan) Add(name string, bytes int64) {
	h := hash(name)
	bytes = max(bytes, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes[groupOf(h)] += bytes
	p.items[groupOf(h)]++
	p.total += bytes
	p.fingerprint += mix(h ^ mix(uint64(bytes)))
}

// Fingerprint identifies the items and their bytes. If it is the same in all tasks, each item is in exactly one part.
func (p *Plan) Fingerprint() string { return fmt.Sprintf("%016x", p.fingerprint) }

// Share is the share of one part.
type Share struct {
	first, end int   // groups
	Items      int64 // number
	Bytes      int64 // stored
}

// Cut returns the share of a part. The shares of all parts are disjoint and have all items. The bytes of a share differ
// from those of an equal share by less than those of its largest group, which is a single item unless there are
// millions.
func (p *Plan) Cut(part Part) Share {
	if part.Whole() {
		part = Part{1, 1}
	}
	s := Share{first: groups, end: groups}
	if part.I == 1 {
		s.first = 0
	}
	from, to := Portion(p.total, part.I-1, part.N), Portion(p.total, part.I, part.N)
	var before int64 // bytes of the groups before this one
	for g, n := range p.bytes {
		middle := before + n/2 // a group belongs to the part in which its middle lies
		before += n
		switch {
		case n == 0 || middle < from:
			continue
		case middle >= to:
			s.end = g
			s.first = min(s.first, s.end)
			return s
		}
		s.first = min(s.first, g)
		s.Bytes += n
		s.Items += int64(p.items[g])
	}
	return s
}

// Portion returns i/n of all bytes, rounded up: where part i of n starts, counted from 0. i is at most n. There is no
// rounding that differs between processors.
func Portion(all int64, i, n int) int64 {
	high, low := bits.Mul64(uint64(all), uint64(i))
	quotient, rest := bits.Div64(high, low, uint64(n)) // at most all
	if rest > 0 {
		quotient++
	}
	return int64(quotient)
}

// Has reports whether an item is in the share. The item need not be in the plan: one that is new since then also has
// one part.
func (s Share) Has(name string) bool {
	g := groupOf(hash(name))
	return s.first <= g && g < s.end
}

// Likely reports whether the share of a part may have an item, before the plan is complete. Where there are many items,
// groups have about equal bytes, so few other items are likely.
func Likely(part Part, name string) bool {
	first, end := likely(part)
	g := groupOf(hash(name))
	return first <= g && g < end
}

// AllLikely reports whether all items that the share of a part can have are likely.
func (s Share) AllLikely(part Part) bool {
	first, end := likely(part)
	return s.first == s.end || first <= s.first && s.end <= end
}

// likely returns the groups that the share of a part probably has: 1 percent of all more, on both sides, than if all
// had equal bytes.
func likely(part Part) (first, end int) {
	if part.Whole() {
		return 0, groups
	}
	const margin = groups / 100
	return max(0, groups*(part.I-1)/part.N-margin), min(groups, groups*part.I/part.N+margin)
}

// hash returns the same number for a name on every machine.
func hash(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // cannot fail
	return mix(h.Sum64())
}

// groupOf returns the group of a name with a hash.
func groupOf(hash uint64) int { return int(hash % groups) }

// mix makes each bit of the result depend on all bits of x: the last step of MurmurHash3.
func mix(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
