package hdfsource

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/volume"
)

// TestLocated: an error says the name of the file and HDF5 once, and counts from the start of the file.
func TestLocated(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&hdf5.FormatError{Path: "/vol", Address: 100, Field: "size of a chunk", Expected: 5, Found: 6},
			`bad.h5: HDF5 object "/vol", size of a chunk at byte 612: expected 5, found 6`},
		{&hdf5.FormatError{Address: 96, Field: "superblock: version", Expected: "0", Found: 9},
			`bad.h5: HDF5 superblock: version at byte 608: expected 0, found 9`},
		{&hdf5.FormatError{Path: "/vol", Address: ^uint64(0), Field: "heap", Expected: "an address", Found: "none"},
			`bad.h5: HDF5 object "/vol", heap: expected an address, found none`},
		{&hdf5.FormatError{Path: "/vol", Address: 1, Field: "chunk", Err: &volume.FormatError{Part: "zlib data",
			Offset: 7, Err: errors.New("it ends early")}},
			`bad.h5: HDF5 object "/vol", chunk at byte 513: zlib data at byte 7: it ends early`},
		{&hdf5.NotSupportedError{Path: "/vol", What: "the filter 4 szip"},
			`bad.h5: unsupported HDF5 object "/vol": the filter 4 szip`},
		{fs.ErrPermission, "bad.h5: permission denied"},
	} {
		got := locatedIn("bad.h5", 512, c.err)
		if got.Error() != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if again := locatedIn("bad.h5", 512, got); c.err != fs.ErrPermission && again.Error() != c.want {
			t.Errorf("twice: %s", again)
		}
		if !errors.Is(got, c.err) {
			t.Errorf("%s: the cause is lost", got)
		}
	}
}
