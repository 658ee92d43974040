package scratch

import (
	"runtime"
	"strings"
	"sync"
	"unsafe"
	"weak"
)

// Pattern is the content of a block that was never written: one value, and zeros outside of the array. The lengths of
// rows are in bytes.
type Pattern struct {
	Value  string // its bytes are repeated along each row
	Block  [3]int // length of a row, rows, planes
	Inside [3]int // the same of the part that has the value
}

// Fill writes the pattern into a block.
func (p Pattern) Fill(block []byte) {
	if p.Inside == p.Block {
		repeat(block, p.Value)
		return
	}
	clear(block)
	for z := range p.Inside[2] {
		for y := range p.Inside[1] {
			repeat(block[(z*p.Block[1]+y)*p.Block[0]:][:p.Inside[0]], p.Value)
		}
	}
}

// repeat fills b with a value, in pieces of twice the length.
func repeat(b []byte, value string) {
	if strings.Trim(value, "\x00") == "" {
		clear(b)
		return
	}
	for n := copy(b, value); n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

const (
	// maxFills bounds the memory of all patterns in use.
	maxFills = 16 << 20
	// leastFill is the least length of a block that is shared. Smaller ones take little more than what the cache knows
	// of them.
	leastFill = 64
)

var allFills = fills{most: maxFills}

// Filled returns a block with the pattern. All users of the pattern get the same memory, and nobody may write it. The
// garbage collector frees it when nobody uses it any more. Filled returns nil if there is no room beside other patterns
// in use: then the caller has to fill memory of its own.
func Filled(p Pattern) []byte { return allFills.get(p) }

// fills has the blocks in use, by their patterns. It does not keep them alive.
type fills struct {
	most int // bytes

	mu    sync.Mutex
	known map[Pattern]weak.Pointer[byte] // the first byte of each block
	bytes int
}

func (f *fills) get(p Pattern) []byte {
	n := p.Block[0] * p.Block[1] * p.Block[2]
	if n < leastFill || n > f.most {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if first := f.known[p].Value(); first != nil {
		return unsafe.Slice(first, n)
	}
	if f.bytes+n > f.most {
		return nil
	}
	block := make([]byte, n)
	p.Fill(block)
	if f.known == nil {
		f.known = map[Pattern]weak.Pointer[byte]{}
	}
	f.known[p] = weak.Make(&block[0])
	f.bytes += n
	runtime.AddCleanup(&block[0], func(p Pattern) { f.drop(p, n) }, p)
	return block
}

// drop forgets a block that nobody uses any more. The pattern may have another one by now.
func (f *fills) drop(p Pattern, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bytes -= n
	if f.known[p].Value() == nil {
		delete(f.known, p)
	}
}
