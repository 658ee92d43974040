package fsnode

import "github.com/hanwen/go-fuse/v2/fuse"

// lent is the answer to a READ in memory that others use too. go-fuse hands the pieces
// to the kernel as they are, in one writev, and calls Done after it.
type lent struct {
	pieces  [][]byte
	release func()
}

var _ fuse.ReadResult = lent{}

// Slices is what go-fuse looks for before it asks for Bytes.
func (l lent) Slices() ([][]byte, fuse.Status) { return l.pieces, fuse.OK }

// Bytes copies the pieces into buf, which is large enough.
func (l lent) Bytes(buf []byte) ([]byte, fuse.Status) {
	buf = buf[:0]
	for _, p := range l.pieces {
		buf = append(buf, p...)
	}
	return buf, fuse.OK
}

func (l lent) Size() (n int) {
	for _, p := range l.pieces {
		n += len(p)
	}
	return n
}

func (l lent) Done() { l.release() }
