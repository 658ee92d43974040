package precomputed

import (
	"path"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

const gzipSuffix = ".gz"

// chunkBox returns the absolute voxels of chunk c, clipped to the bounds of the scale.
func (s *scaleInfo) chunkBox(c volume.Vec) volume.Box { return s.boxOf(c, s.chunk) }

// boxOf is chunkBox for chunks of a size.
func (s *scaleInfo) boxOf(c, size volume.Vec) volume.Box {
	offset := s.bounds.Min.Add(c.Mul(size))
	return volume.Box{Min: offset, Max: offset.Add(size).Min(s.bounds.Max)}
}

// chunkName returns the name of chunk c: X0-X1_Y0-Y1_Z0-Z1, in absolute voxels.
func (s *scaleInfo) chunkName(c volume.Vec) string { return s.chunkBox(c).String() }

// parseChunkName returns the chunk with a name. It returns false if no chunk of the scale has it. Numbers may be
// negative, so "-" is a separator or a sign: "-1000--992_…".
func (s *scaleInfo) parseChunkName(name string) (volume.Vec, bool) { return s.parseName(name, s.chunk) }

// parseName is parseChunkName for chunks of a size.
func (s *scaleInfo) parseName(name string, size volume.Vec) (volume.Vec, bool) {
	var offset volume.Vec
	rest := name
	for axis := range 3 {
		var ok bool
		if offset[axis], rest, ok = leadingInt(rest); !ok {
			return volume.Vec{}, false
		}
		// The offset determines the end. The comparison of names below checks it.
		_, rest, _ = strings.Cut(rest, "_")
	}
	c := offset.Sub(s.bounds.Min).Div(size)
	return c, c.In(s.bounds.Size().CeilDiv(size)) && s.boxOf(c, size).String() == name
}

// leadingInt parses the number at the start of s. It returns false if there is none, or one above 2 × maxInteger.
func leadingInt(s string) (n int, rest string, ok bool) {
	digits, negative := strings.CutPrefix(s, "-")
	i := 0
	for ; i < len(digits) && '0' <= digits[i] && digits[i] <= '9'; i++ {
		if n = n*10 + int(digits[i]-'0'); n > 2*maxInteger {
			return 0, "", false
		}
	}
	if negative {
		n = -n
	}
	return n, digits[i:], i > 0
}

// directoryName returns the name of the mag for a scale: the components of its key, without "." and "..", joined by
// "_". It is empty if no component is left.
func directoryName(key string) string {
	var parts []string
	for part := range strings.SplitSeq(key, "/") {
		if part != "" && part != "." && part != ".." {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "_")
}

// leavesVolume reports whether a key points outside the directory of its volume. A URL does.
func leavesVolume(key string) bool {
	clean := path.Clean(key)
	return path.IsAbs(key) || clean == ".." || strings.HasPrefix(clean, "../") || strings.Contains(key, "://")
}

func (s *scale) cubeFiles() volume.CubeFiles {
	example := s.chunkName(volume.Vec{})
	if s.sharding != nil {
		example = s.sharding.stem(0) + shardSuffix
	}
	return volume.CubeFiles{FS: s.fsys, Dir: s.dir, Example: example, Kind: s.kindOfName}
}

// kindOfName says what a name below the directory of the chunks is. A chunk file with a suffix that is not known is one
// that is not read.
func (s *scale) kindOfName(name string) volume.CubeName {
	if s.sharding == nil {
		stem := withoutSuffix(name)
		if !isForm(strings.TrimPrefix(name, stem)) {
			return volume.OtherName
		}
		name = stem
		if _, ok := s.parseChunkName(name); ok {
			return volume.FileName
		}
		for _, size := range s.others {
			if _, ok := s.parseName(name, size); ok {
				return volume.CopyName
			}
		}
		return volume.OtherName
	}
	for _, suffix := range []string{shardSuffix, obsoleteSuffix, obsoleteDataSuffix} {
		if stem, ok := strings.CutSuffix(name, suffix); ok {
			if _, ok := s.sharding.parseStem(stem); ok {
				return volume.FileName
			}
		}
	}
	return volume.OtherName
}
