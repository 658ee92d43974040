package precomputed

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

const (
	infoFile = "info"
	infoType = "neuroglancer_multiscale_volume"

	// maxInfoBytes is the longest info file that is read. One scale takes a few
	// hundred bytes.
	maxInfoBytes = 16 << 20

	// MaxChunkBytes is the largest decoded chunk that is read: it is decoded in
	// memory as a whole.
	MaxChunkBytes = 1 << 30
)

// info is what an info file says (volume.md, "info JSON file format").
type info struct {
	category string // color or segmentation; empty where it does not say
	scales   []*scaleInfo
	omitted  []volume.Omission // scales that cannot be shown, and why
}

// scaleInfo describes one scale. It has been checked: nothing computed from it
// overflows.
type scaleInfo struct {
	key        string
	name       string     // of the directory that shows it
	bounds     volume.Box // from voxel_offset on
	chunk      volume.Vec // voxels
	lattice    lattice    // of chunks
	dataType   volume.Type
	channels   int
	encoding   *encoding
	block      volume.Vec // of compressed_segmentation, voxels
	resolution resolution // nm per voxel; zero: not known
	factor     volume.Factor
	sharding   *sharding // nil: a file for each chunk
}

// parseInfo reads an info file. The error is ErrNotRecognised where it is that of
// something else; a scale that cannot be shown is an omission.
func parseInfo(b []byte) (*info, error) {
	var o object
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, fmt.Errorf("%w: not a JSON object: %w", ErrNotRecognised, err)
	}
	kind := infoType // what some writers leave out
	if err := o.get("@type", &kind); err != nil || kind != infoType {
		return nil, fmt.Errorf("%w: @type is %s", ErrNotRecognised, shortened(o["@type"]))
	}
	if o["scales"] == nil {
		return nil, fmt.Errorf("%w: no scales", ErrNotRecognised)
	}
	var scales []json.RawMessage
	if err := o.get("scales", &scales); err != nil {
		return nil, err
	}
	var kindOfVoxels string
	if err := o.get("type", &kindOfVoxels); err != nil {
		return nil, err
	}
	i := &info{category: categories[strings.ToLower(kindOfVoxels)]}
	i.addScales(o, scales)
	return i, nil
}

// categories are our words for the values of "type".
var categories = map[string]string{"image": "color", "segmentation": "segmentation"}

// addScales reads the scales, each for itself.
func (i *info) addScales(o object, scales []json.RawMessage) {
	var first resolution // of mag 1
	named := map[string]string{}
	for n, raw := range scales {
		label := fmt.Sprintf("scale %d", n)
		s, err := parseScale(o, raw)
		if s.name != "" {
			label = s.name
		}
		if n == 0 {
			first = s.resolution
		}
		if other, taken := named[s.name]; err == nil && taken {
			err = fmt.Errorf("key: %q would be shown under the same name as %q", s.key, other)
		}
		if err != nil {
			i.omitted = append(i.omitted, volume.Omission{Name: label, Reason: err.Error()})
			continue
		}
		named[s.name] = s.key
		s.factor = s.resolution.factor(first)
		i.scales = append(i.scales, s)
	}
}

// parseScale reads one scale. Where it fails, what it returns has the key and the
// resolution if these could be read.
func parseScale(o object, raw json.RawMessage) (*scaleInfo, error) {
	s := &scaleInfo{}
	var scale object
	if err := json.Unmarshal(raw, &scale); err != nil {
		return s, err
	}
	for _, read := range []func() error{
		func() error { return s.readKey(scale) },
		func() error { return scale.get("resolution", &s.resolution) },
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
	if err := o.get("key", &s.key); err != nil {
		return err
	}
	s.name = directoryName(s.key)
	switch {
	case s.key == "":
		return errors.New("key: expected the directory of the chunks, found none")
	case s.name == "" || strings.ContainsRune(s.key, 0):
		return fmt.Errorf("key: %q gives no name of a directory", s.key)
	}
	return nil
}

// readValues reads what the info file says for all of its scales.
func (s *scaleInfo) readValues(o object) error {
	var name string
	if err := o.get("data_type", &name); err != nil {
		return err
	}
	var err error
	if s.dataType, err = volume.ParseType(strings.ToLower(name)); err != nil {
		return fmt.Errorf("data_type: %w", err)
	}
	var channels whole
	if err := o.get("num_channels", &channels); err != nil {
		return err
	}
	if s.channels = int(channels); s.channels < 1 {
		return fmt.Errorf("num_channels: expected 1 or more, found %d", s.channels)
	}
	return nil
}

func (s *scaleInfo) readBounds(o object) error {
	var offset, size triple
	if err := o.get("voxel_offset", &offset); err != nil {
		return err
	}
	if err := o.get("size", &size); err != nil {
		return err
	}
	if min(size[0], size[1], size[2]) < 1 {
		return fmt.Errorf("size: expected 1 or more on each axis, found %v", volume.Vec(size))
	}
	s.bounds = volume.Box{Min: volume.Vec(offset), Max: volume.Vec(offset).Add(volume.Vec(size))}
	return nil
}

// readEncoding reads the encoding, and whether it can hold the voxels.
func (s *scaleInfo) readEncoding(o object) error {
	var name string
	if err := o.get("encoding", &name); err != nil {
		return err
	}
	n := slices.IndexFunc(encodings, func(e encoding) bool { return e.name == strings.ToLower(name) })
	if n < 0 {
		return fmt.Errorf("encoding: unknown: %q", name)
	}
	s.encoding = &encodings[n]
	if !s.encoding.holds(s.dataType, s.channels) {
		return fmt.Errorf("encoding: %s cannot hold %d × %v", name, s.channels, s.dataType)
	}
	if s.encoding.blockwise {
		var block triple
		if err := o.get("compressed_segmentation_block_size", &block); err != nil {
			return err
		}
		if min(block[0], block[1], block[2]) < 1 {
			return fmt.Errorf("compressed_segmentation_block_size: expected 1 or more on each axis, found %v", volume.Vec(block))
		}
		s.block = volume.Vec(block)
	}
	return nil
}

// readChunk takes the first of the chunk sizes that can be read: each of them has all
// of the voxels.
func (s *scaleInfo) readChunk(o object) error {
	var sizes []triple
	if err := o.get("chunk_sizes", &sizes); err != nil {
		return err
	}
	err := errors.New("there are none")
	for _, size := range sizes {
		if err = s.setChunk(volume.Vec(size)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("chunk_sizes: %w", err)
}

func (s *scaleInfo) setChunk(size volume.Vec) error {
	s.chunk = size
	g := s.grid()
	if err := g.Validate(); err != nil {
		return err
	}
	if g.BlockBytes() > MaxChunkBytes {
		return fmt.Errorf("expected chunks of at most %d bytes, found %d", MaxChunkBytes, g.BlockBytes())
	}
	var err error
	s.lattice, err = newLattice(s.bounds.Size().CeilDiv(size))
	return err
}

func (s *scaleInfo) readSharding(o object) error {
	var spec object
	if err := o.get("sharding", &spec); err != nil || spec == nil {
		return err
	}
	var err error
	if s.sharding, err = parseSharding(spec); err != nil {
		return fmt.Errorf("sharding: %w", err)
	}
	return nil
}

// grid is the geometry of every chunk, as if it were the first.
func (s *scaleInfo) grid() volume.Grid {
	return volume.Grid{
		Size: s.chunk, Block: s.chunk, Type: s.dataType, Channels: s.channels,
		Origin: s.bounds.Min, Spacing: s.resolution,
	}
}

// voxel returns the volume of a voxel in nm³.
func (r resolution) voxel() float64 { return r[0] * r[1] * r[2] }

// factor returns the side of a voxel in voxels of the first scale; zero unless it is
// whole on each axis.
func (r resolution) factor(first resolution) volume.Factor {
	var f volume.Factor
	for axis := range 3 {
		n := r[axis] / first[axis]
		whole := math.Round(n)
		if !(whole >= 1 && whole <= maxWhole && math.Abs(n-whole) < 1e-6*whole) {
			return volume.Factor{}
		}
		f[axis] = int(whole)
	}
	return f
}
