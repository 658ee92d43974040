package scratch

import "sync"

// Blocks is memory for up to N blocks of Bytes each. It takes none before the first block, so that a damaged file takes
// no memory. It is safe for concurrent use.
type Blocks struct {
	Bytes, N int

	mu   sync.Mutex
	all  *[]byte
	used int // bytes
}

// Next returns memory for one more block, of undefined content.
func (b *Blocks) Next() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = Get(b.Bytes * b.N)
	}
	start := b.used
	b.used += b.Bytes
	return (*b.all)[start:b.used:b.used]
}

// Free gives the memory back. Nobody may use it any more.
func (b *Blocks) Free() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all != nil {
		Put(b.all)
		b.all = nil
	}
}
