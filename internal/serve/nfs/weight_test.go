package nfs

import (
	"testing"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
)

// TestWeight: the budget counts the bytes that a READ asks for, and those of a listing.
func TestWeight(t *testing.T) {
	for _, c := range []struct {
		name               string
		program, procedure uint32
		count              uint32
		least              int64
	}{
		{"a large read", programNFS, procRead, 1 << 20, 1 << 20},
		{"a read of more than the server gives", programNFS, procRead, 1<<32 - 1, 1 << 20},
		{"a small read", programNFS, procRead, 1, 1},
		{"a listing", programNFS, procReadDir, 0, maxListing},
		{"a listing with attributes", programNFS, procReadDirPlus, 0, maxListing},
		{"attributes", programNFS, 1, 0, 0},
		{"a mount", programMount, procRead, 1 << 20, 0},
	} {
		e := xdr.NewEncoder(nil)
		e.Opaque([]byte("handle"))
		e.Uint64(0)
		e.Uint32(c.count)
		got := call{program: c.program, procedure: c.procedure, args: e.Bytes()}.weight() - callWeight
		if got < c.least || got > 2*max(c.least, 1<<20) || c.least == 0 && got != 0 {
			t.Errorf("%s: got %d bytes, expected at least %d", c.name, got, c.least)
		}
	}
}
