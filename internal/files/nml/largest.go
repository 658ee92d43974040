package nml

import (
	"encoding/binary"
	"strconv"

	"github.com/wkwfs/wkwfs/volume"
)

// largestID is the attribute of a volume with an id that none of its segments exceeds. WEBKNOSSOS gives new segments
// the ids above.
const largestID = "largestSegmentId"

// RaiseLargestID adds to the changes of a volume that its largest id is at least n, unless it has such a one.
func RaiseLargestID(have, changes map[string]string, n uint64) {
	if old, err := strconv.ParseUint(have[largestID], 10, 64); n > 0 && (err != nil || old < n) {
		changes[largestID] = strconv.FormatUint(n, 10)
	}
}

// LargestID returns the largest id of voxels, or 0 if their numbers have a sign.
func LargestID(voxels []byte, t volume.Type) (n uint64) {
	if !t.IsUnsigned() {
		return 0
	}
	switch b := voxels; t.Size() {
	case 1:
		for _, v := range b {
			n = max(n, uint64(v))
		}
	case 2:
		for ; len(b) >= 2; b = b[2:] {
			n = max(n, uint64(binary.LittleEndian.Uint16(b)))
		}
	case 4:
		var most [4]uint32 // of every fourth id: so the processor compares several at a time
		for ; len(b) >= 16; b = b[16:] {
			most[0] = max(most[0], binary.LittleEndian.Uint32(b))
			most[1] = max(most[1], binary.LittleEndian.Uint32(b[4:]))
			most[2] = max(most[2], binary.LittleEndian.Uint32(b[8:]))
			most[3] = max(most[3], binary.LittleEndian.Uint32(b[12:]))
		}
		for ; len(b) >= 4; b = b[4:] {
			most[0] = max(most[0], binary.LittleEndian.Uint32(b))
		}
		n = uint64(max(most[0], most[1], most[2], most[3]))
	case 8:
		for ; len(b) >= 8; b = b[8:] {
			n = max(n, binary.LittleEndian.Uint64(b))
		}
	}
	return n
}
