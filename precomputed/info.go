package precomputed

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

const (
	infoFile = "info"
	infoType = "neuroglancer_multiscale_volume"

	// Limits of the info file. A scale takes some hundred bytes. No real volume reaches the limits.
	maxInfoBytes  = 16 << 20
	maxScales     = 1000
	maxChunkSizes = 1000 // of a scale

	// MaxChunkBytes limits a decoded chunk, in bytes, because a chunk is decoded in memory as a whole. Scales with
	// larger chunks are omitted.
	MaxChunkBytes = 1 << 30

	// largeChunk is a size in bytes. Only larger chunks are cut where they go past the end of the scale.
	largeChunk = 1 << 20
)

// info has the content of an info file (volume.md, "info JSON file format").
type info struct {
	category string // color, segmentation, or empty if unknown
	scales   []*scaleInfo
	omitted  []volume.Omission // scales that cannot be read
}

// scaleInfo describes one scale. Its values are checked: sizes computed from them do not overflow.
type scaleInfo struct {
	key        string
	name       string       // of the mag
	bounds     volume.Box   // absolute voxels, from voxel_offset
	chunk      volume.Vec   // size in voxels
	others     []volume.Vec // other sizes in which the voxels are stored, too
	lattice    lattice.Lattice
	dataType   volume.Type
	channels   int
	encoding   *encoding
	block      volume.Vec // of compressed_segmentation, in voxels
	resolution resolution
	factor     volume.Factor // zero if unknown
	sharding   *sharding     // nil if each chunk has a file
	unpacking  atomic.Int64  // the most memory that the compression of a file that was opened takes, in bytes
}

// parseInfo parses an info file. It returns ErrNotRecognised if the file does not describe a volume. A scale that
// cannot be read is omitted.
func parseInfo(b []byte) (*info, error) {
	var o object
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, fmt.Errorf("%w: not a JSON object: %w", ErrNotRecognised, err)
	}
	kind := infoType // some writers omit it
	if err := o.Get("@type", &kind); err != nil || kind != infoType {
		return nil, fmt.Errorf("%w: @type is %s", ErrNotRecognised, jsonlimit.Abbreviate(o["@type"]))
	}
	if o["scales"] == nil {
		return nil, fmt.Errorf("%w: no scales", ErrNotRecognised)
	}
	scales, err := jsonlimit.List[json.RawMessage](o["scales"], maxScales, "scales")
	if err != nil {
		return nil, fmt.Errorf("scales: %w", err)
	}
	var volumeType string
	if err := o.Get("type", &volumeType); err != nil {
		return nil, err
	}
	i := &info{category: categories[strings.ToLower(volumeType)]}
	i.addScales(o, scales)
	return i, nil
}

// categories has the category of WEBKNOSSOS for each value of "type".
var categories = map[string]string{"image": "color", "segmentation": "segmentation"}

// addScales parses the scales. An invalid one does not affect the others.
func (i *info) addScales(o object, scales []json.RawMessage) {
	var finest resolution       // of mag 1, which need not be the first, and may be of a scale that cannot be read
	keys := map[string]string{} // by name
	for n, raw := range scales {
		label := fmt.Sprintf("scale %d", n)
		s, err := parseScale(o, raw)
		if s.name != "" {
			label = s.name
		}
		if v := s.resolution.volume(); v > 0 && (finest.volume() == 0 || v < finest.volume()) {
			finest = s.resolution
		}
		if other, taken := keys[s.name]; err == nil && taken {
			err = fmt.Errorf("key: %q has the same name as %q", s.key, other)
		}
		if err != nil {
			i.omitted = append(i.omitted, volume.Omission{Name: label, Reason: err.Error()})
			continue
		}
		keys[s.name] = s.key
		i.scales = append(i.scales, s)
	}
	for _, s := range i.scales {
		s.factor = s.resolution.factor(finest)
	}
}

// parseScale parses one scale. If it fails, the result still has the key and the resolution, if they are valid.
func parseScale(o object, raw json.RawMessage) (*scaleInfo, error) {
	s := &scaleInfo{}
	var scale object
	if err := json.Unmarshal(raw, &scale); err != nil {
		return s, err
	}
	for _, read := range []func() error{
		func() error { return s.readKey(scale) },
		func() error { return scale.Get("resolution", &s.resolution) },
		func() error { return s.readValues(o) },
		func() error { return s.readBounds(scale) },
		func() error { return s.readEncoding(scale) },
		func() error { return s.readChunk(scale) },
		func() error { return s.readSharding(scale) },
	} {
		if err := read(); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *scaleInfo) readKey(o object) error {
	if err := o.Get("key", &s.key); err != nil {
		return err
	}
	s.name = directoryName(s.key)
	switch {
	case s.key == "":
		return errors.New("key: expected the directory of the chunks, found none")
	case s.name == "" || strings.ContainsRune(s.key, 0):
		return fmt.Errorf("key: %q is not the name of a directory", s.key)
	}
	return nil
}

// readValues reads data_type and num_channels, which all scales share.
func (s *scaleInfo) readValues(o object) error {
	var name string
	if err := o.Get("data_type", &name); err != nil {
		return err
	}
	var err error
	if s.dataType, err = volume.ParseType(strings.ToLower(name)); err != nil {
		return fmt.Errorf("data_type: %w", err)
	}
	var channels integer
	if err := o.Get("num_channels", &channels); err != nil {
		return err
	}
	if s.channels = int(channels); s.channels < 1 {
		return fmt.Errorf("num_channels: expected 1 or more, found %d", s.channels)
	}
	return nil
}

func (s *scaleInfo) readBounds(o object) error {
	var offset, size triple
	if err := o.Get("voxel_offset", &offset); err != nil {
		return err
	}
	if err := o.Get("size", &size); err != nil {
		return err
	}
	if min(size[0], size[1], size[2]) < 1 {
		return fmt.Errorf("size: expected 1 or more on each axis, found %v", volume.Vec(size))
	}
	s.bounds = volume.Box{Min: volume.Vec(offset), Max: volume.Vec(offset).Add(volume.Vec(size))}
	return nil
}

// readEncoding reads the encoding, and checks that it supports the type and the channels.
func (s *scaleInfo) readEncoding(o object) error {
	var name string
	if err := o.Get("encoding", &name); err != nil {
		return err
	}
	n := slices.IndexFunc(encodings, func(e encoding) bool { return e.name == strings.ToLower(name) })
	if n < 0 {
		return fmt.Errorf("encoding: unknown: %q", name)
	}
	s.encoding = &encodings[n]
	if !s.encoding.supports(s.dataType, s.channels) {
		return fmt.Errorf("encoding: %s cannot hold %d × %v", name, s.channels, s.dataType)
	}
	if s.encoding.blockwise {
		var block triple
		if err := o.Get("compressed_segmentation_block_size", &block); err != nil {
			return err
		}
		if min(block[0], block[1], block[2]) < 1 {
			return fmt.Errorf("compressed_segmentation_block_size: expected 1 or more on each axis, found %v",
				volume.Vec(block))
		}
		s.block = volume.Vec(block)
	}
	return nil
}

// readChunk reads the first valid chunk size, and the others. The scale is stored completely in each of its chunk
// sizes.
func (s *scaleInfo) readChunk(o object) error {
	err, chosen := errors.New("the list is empty"), false
	if sizes, ok := o["chunk_sizes"]; ok {
		for size, invalid := range jsonlimit.Values[triple](sizes, maxChunkSizes, "sizes") {
			if chosen {
				if invalid == nil && min(size[0], size[1], size[2]) > 0 {
					s.others = append(s.others, volume.Vec(size))
				}
				continue
			}
			if err = invalid; err == nil {
				err = s.setChunk(volume.Vec(size))
			}
			chosen = err == nil
		}
	}
	if err != nil {
		return fmt.Errorf("chunk_sizes: %w", err)
	}
	return nil
}

func (s *scaleInfo) setChunk(size volume.Vec) error {
	s.chunk = size
	g := volume.Grid{Size: size, Block: size, Type: s.dataType, Channels: s.channels}
	if err := g.Validate(); err != nil {
		return err
	}
	if g.BlockBytes() > MaxChunkBytes {
		return fmt.Errorf("expected chunks of at most %d bytes, found %d", MaxChunkBytes, g.BlockBytes())
	}
	var err error
	s.lattice, err = lattice.New(s.bounds.Size().CeilDiv(size))
	return err
}

func (s *scaleInfo) readSharding(o object) error {
	var spec object
	if err := o.Get("sharding", &spec); err != nil || spec == nil {
		return err
	}
	var err error
	if s.sharding, err = parseSharding(spec); err != nil {
		return fmt.Errorf("sharding: %w", err)
	}
	return nil
}

// grid returns the geometry of chunk 0,0,0. A large chunk that goes far past the end of the scale has several blocks,
// of which the first has all that is stored.
func (s *scaleInfo) grid() volume.Grid {
	block := s.chunk
	if s.voxelBytes(block) > largeChunk {
		for axis, n := range s.bounds.Size() {
			block[axis] = lattice.Divisor(block[axis], min(n, block[axis]))
		}
	}
	return volume.Grid{
		Size: s.chunk, Block: block, Type: s.dataType, Channels: s.channels,
		Origin: s.bounds.Min, Spacing: s.resolution,
	}
}

// volume returns the volume of a voxel in nm³.
func (r resolution) volume() float64 { return r[0] * r[1] * r[2] }

// factor returns the size of a voxel in voxels of the finest scale. It is zero if the size is not an integer on every
// axis.
func (r resolution) factor(finest resolution) volume.Factor {
	var f volume.Factor
	for axis := range 3 {
		n := r[axis] / finest[axis]
		rounded := math.Round(n)
		if !(rounded >= 1 && rounded <= maxInteger && math.Abs(n-rounded) < 1e-6*rounded) {
			return volume.Factor{}
		}
		f[axis] = int(rounded)
	}
	return f
}
