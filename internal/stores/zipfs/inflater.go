package zipfs

import (
	"bytes"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/wkwfs/wkwfs/internal/small/scratch"
)

// inflater unpacks one file after another. Thousands of small files are unpacked while a volume is read, so its memory
// is used again.
type inflater struct {
	flate  io.ReadCloser
	stored bytes.Reader
	memory *[]byte // of stored; nil: none
}

var inflaters = sync.Pool{New: func() any { return &inflater{flate: flate.NewReader(nil)} }}

// maxStored is the longest file that is in memory as it is stored while it is unpacked, in bytes. Decoding from memory
// takes half the time.
const maxStored = 1 << 20

// reader returns the unpacked bytes of a file of n stored bytes.
func (in *inflater) reader(stored io.Reader, n int64) (io.Reader, error) {
	if n <= maxStored {
		in.memory = scratch.Get(int(n))
		if _, err := io.ReadFull(stored, *in.memory); err != nil {
			return nil, err
		}
		in.stored.Reset(*in.memory)
		stored = &in.stored
	}
	return in.flate, in.flate.(flate.Resetter).Reset(stored, nil)
}

// release ends the use of what reader has returned.
func (in *inflater) release() {
	in.stored.Reset(nil)
	if in.memory != nil {
		scratch.Put(in.memory)
		in.memory = nil
	}
	// What was read is not kept in memory. An error would come with the next use, too.
	_ = in.flate.(flate.Resetter).Reset(&in.stored, nil)
	inflaters.Put(in)
}
