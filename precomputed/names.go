package precomputed

import (
	"path"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

const gzipSuffix = ".gz"

// chunkBox returns the voxels of chunk c, clipped to the scale's bounds.
func (s *scaleInfo) chunkBox(c volume.Vec) volume.Box {
	begin := s.bounds.Min.Add(c.Mul(s.chunk))
	return volume.Box{Min: begin, Max: begin.Add(s.chunk).Min(s.bounds.Max)}
}

// chunkName returns what chunk c is called: "x0-x1_y0-y1_z0-z1", absolute voxels.
func (s *scaleInfo) chunkName(c volume.Vec) string { return s.chunkBox(c).String() }

// parseChunkName returns the chunk that has the name; false where none of this scale
// and chunk size has. Numbers may be negative, so that "-" both separates and belongs
// to them: "-1000--992_…".
func (s *scaleInfo) parseChunkName(name string) (volume.Vec, bool) {
	var begin volume.Vec
	rest := name
	for axis := range 3 {
		var ok bool
		if begin[axis], rest, ok = leadingInt(rest); !ok {
			return volume.Vec{}, false
		}
		// The end follows from the begin; that it is the right one is seen below.
		_, rest, _ = strings.Cut(rest, "_")
	}
	c := begin.Sub(s.bounds.Min).Div(s.chunk)
	return c, c.In(s.lattice.size) && s.chunkName(c) == name
}

// leadingInt reads the number, at most maxWhole, that s begins with.
func leadingInt(s string) (n int, rest string, ok bool) {
	digits, negative := strings.CutPrefix(s, "-")
	i := 0
	for ; i < len(digits) && '0' <= digits[i] && digits[i] <= '9'; i++ {
		if n = n*10 + int(digits[i]-'0'); n > 2*maxWhole {
			return 0, "", false
		}
	}
	if negative {
		n = -n
	}
	return n, digits[i:], i > 0
}

// directoryName returns the name of the directory that shows the scale with the key:
// the components of the key, without "." and "..", joined by "_". It is empty where
// nothing is left.
func directoryName(key string) string {
	var parts []string
	for part := range strings.SplitSeq(key, "/") {
		if part != "" && part != "." && part != ".." {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "_")
}

// leavesVolume reports whether a key leads out of the directory of its volume. A URL
// does, as far as a directory is concerned.
func leavesVolume(key string) bool {
	clean := path.Clean(key)
	return path.IsAbs(key) || clean == ".." || strings.HasPrefix(clean, "../") || strings.Contains(key, "://")
}
