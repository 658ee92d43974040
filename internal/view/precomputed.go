package view

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/internal/header"
	"github.com/wkwfs/wkwfs/internal/prefetch"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// A layer is also shown as a Neuroglancer Precomputed volume: the directory
// precomputed with an info file, and for each mag a directory of unsharded raw
// chunks. https://github.com/google/neuroglancer, datasource/precomputed/volume.md
const (
	precomputedName = "precomputed"
	infoName        = "info"
)

// maxListed is how many chunks a mag may have for its directory to list them; they
// are found by name all the same.
const maxListed = 1 << 20

// precomputedInfo is the info file.
type precomputedInfo struct {
	AtType   string             `json:"@type"`
	Type     string             `json:"type"`
	DataType string             `json:"data_type"`
	Channels int                `json:"num_channels"`
	Scales   []precomputedScale `json:"scales"`
}

type precomputedScale struct {
	Key        string       `json:"key"`
	Size       volume.Vec   `json:"size"`
	Offset     volume.Vec   `json:"voxel_offset"`
	ChunkSizes []volume.Vec `json:"chunk_sizes"`
	Resolution [3]float64   `json:"resolution"` // nm
	Encoding   string       `json:"encoding"`
}

// PrecomputedReason says why voxels cannot be shown as Precomputed; empty if they can.
func PrecomputedReason(g volume.Grid) string {
	if g.Type == volume.Int64 || g.Type == volume.Float64 {
		return fmt.Sprintf("Precomputed has no %v", g.Type)
	}
	return ""
}

// chunkSide is the extent of a chunk on an axis: that of a block, as long as viewers
// are well served with it, else a power of two that lines up with blocks.
func chunkSide(block int) int {
	switch {
	case block < 16:
		return 32 / block * block
	case block > 128:
		return 64
	}
	return block
}

// scale is a mag as a scale of a Precomputed volume.
type scale struct {
	d   magDir
	key string
}

// geometry is where the chunks of a scale lie: chunk 0,0,0 begins at the bounding
// box's begin rounded down to the block, and the last ones are clipped at its end.
type geometry struct {
	chunk  volume.Vec
	extent volume.Box // absolute voxels of the mag
}

func (s scale) geometry(m *shown) geometry {
	var g geometry
	for axis, block := range m.Cube().Block {
		g.chunk[axis] = chunkSide(block)
	}
	first := m.Local(m.Bounds()).Min.Div(m.Cube().Block).Mul(m.Cube().Block)
	g.extent = volume.Box{Min: first.Add(m.Cube().Origin), Max: m.Bounds().Max}
	return g
}

// box returns the voxels of chunk c.
func (g geometry) box(c volume.Vec) volume.Box {
	lo := g.extent.Min.Add(c.Mul(g.chunk))
	return volume.Box{Min: lo, Max: lo.Add(g.chunk)}.Intersect(g.extent)
}

// precomputedDir is the volume: its info and its scales.
type precomputedDir struct{ l layerDir }

func (d precomputedDir) stat() (fs.FileInfo, error) { return statDir(precomputedName, d.l.l.Stat) }

// scales are the mags that the volume has: those that can be read and are of the same
// kind as the finest one.
func (d precomputedDir) scales() ([]scale, []*shown, error) {
	names, err := d.l.l.Mags()
	if err != nil {
		return nil, nil, err
	}
	var scales []scale
	var mosaics []*shown
	for _, name := range names {
		mag, err := d.l.l.Mag(name)
		if err != nil {
			continue // gone since it was listed
		}
		dir := magDir{d.l.t, path.Join(d.l.name, name), mag}
		m, err := dir.shown()
		why := ""
		switch {
		case err != nil:
			why = err.Error()
		case PrecomputedReason(m.Cube()) != "":
			why = PrecomputedReason(m.Cube())
		case len(mosaics) > 0 && (m.Cube().Type != mosaics[0].Cube().Type || m.Cube().Channels != mosaics[0].Cube().Channels):
			why = "not of the same type as " + scales[0].d.path
		}
		if why != "" {
			d.l.t.Log.Info("mag not shown as Precomputed", "mag", dir.path, "because", why)
			continue
		}
		scales, mosaics = append(scales, scale{dir, name}), append(mosaics, m)
	}
	return scales, mosaics, nil
}

func (d precomputedDir) list() ([]fs.DirEntry, error) {
	scales, _, err := d.scales()
	if err != nil {
		return nil, err
	}
	entries := []fs.DirEntry{entry{infoName, infoFile{d}}}
	for _, s := range scales {
		entries = append(entries, entry{s.key, s})
	}
	return entries, nil
}

func (d precomputedDir) child(name string) (node, error) {
	if name == infoName {
		return infoFile{d}, nil
	}
	mag, err := d.l.l.Mag(name)
	if err != nil {
		return nil, err
	}
	s := scale{magDir{d.l.t, path.Join(d.l.name, name), mag}, name}
	if m, err := s.d.shown(); err != nil || PrecomputedReason(m.Cube()) != "" {
		return nil, fs.ErrNotExist
	}
	return s, nil
}

// infoFile is the info file.
type infoFile struct{ d precomputedDir }

// content is the file. It depends on all mags, so it is made anew each time.
func (f infoFile) content() ([]byte, error) {
	scales, mosaics, err := f.d.scales()
	if err != nil {
		return nil, err
	}
	if len(scales) == 0 {
		return nil, fs.ErrNotExist
	}
	cube := mosaics[0].Cube()
	info := precomputedInfo{AtType: "neuroglancer_multiscale_volume", Type: "image", DataType: cube.Type.String(), Channels: cube.Channels}
	if scales[0].d.m.About().Category == "segmentation" && cube.Channels == 1 && cube.Type != volume.Float32 {
		info.Type = "segmentation"
	}
	for i, s := range scales {
		g := s.geometry(mosaics[i])
		info.Scales = append(info.Scales, precomputedScale{
			Key: s.key, Size: g.extent.Size(), Offset: g.extent.Min, ChunkSizes: []volume.Vec{g.chunk},
			Resolution: s.resolution(mosaics[i]), Encoding: "raw",
		})
	}
	b, err := json.MarshalIndent(info, "", "  ")
	return append(b, '\n'), err
}

// resolution is nm per voxel; where the scale of the dataset is not known, as if
// voxels of mag 1 were 1 nm wide.
func (s scale) resolution(m *shown) [3]float64 {
	nm := m.Cube().Spacing
	for axis, factor := range s.d.m.About().Factor {
		if nm[axis] == 0 {
			nm[axis] = float64(max(factor, 1))
		}
	}
	return nm
}

func (f infoFile) stat() (fs.FileInfo, error) {
	i, _, err := f.describe()
	return i, err
}

func (f infoFile) describe() (info, []byte, error) {
	b, err := f.content()
	if err != nil {
		return info{}, nil, err
	}
	base, err := f.d.l.l.Stat()
	if err != nil {
		return info{}, nil, err
	}
	i := fileInfo(infoName, int64(len(b)), base)
	sum := sha256.Sum256(b)
	i.version, i.stored = vfs.Version(sum[:16]), i.size
	return i, b, nil
}

func (f infoFile) open() (fs.File, error) {
	i, b, err := f.describe()
	if err != nil {
		return nil, err
	}
	return newFile(i, header.Layout{Head: b}, nil, nothing), nil
}

// nothing is what is left to do when a file that is made of memory is closed.
func nothing() {}

func (s scale) stat() (fs.FileInfo, error) { return statDir(s.key, s.d.m.Stat) }

// list names the chunks that have voxels of a cube, unless they are too many.
func (s scale) list() ([]fs.DirEntry, error) {
	m, err := s.d.shown()
	if err != nil {
		return nil, err
	}
	g := s.geometry(m)
	seen := map[volume.Vec]bool{}
	var entries []fs.DirEntry
	for c, err := range volume.AllCubes(s.d.m) {
		if err != nil {
			return nil, err
		}
		lo := m.Cube().Origin.Add(c.Mul(m.Cube().Size))
		part := volume.Box{Min: lo, Max: lo.Add(m.Cube().Size)}.Intersect(g.extent)
		if part.Empty() {
			continue
		}
		chunks := volume.Box{Min: part.Min.Sub(g.extent.Min).Div(g.chunk), Max: part.Max.Sub(g.extent.Min).CeilDiv(g.chunk)}
		for at := range chunks.All() {
			if seen[at] { // chunks may be wider than cubes
				continue
			}
			if seen[at] = true; len(entries) == maxListed {
				return nil, nil
			}
			f := chunkFile{s, g.box(at)}
			entries = append(entries, entry{f.box.String(), f})
		}
	}
	return entries, nil
}

func (s scale) child(name string) (node, error) {
	box, ok := parseBox(name)
	if !ok {
		return nil, fs.ErrNotExist
	}
	m, err := s.d.shown()
	if err != nil {
		return nil, err
	}
	g := s.geometry(m)
	if at := box.Min.Sub(g.extent.Min).Div(g.chunk); g.box(at) != box {
		return nil, fs.ErrNotExist
	}
	return chunkFile{s, box}, nil
}

// chunkFile is one raw chunk. Other than everywhere else, the channel is its slowest
// axis.
type chunkFile struct {
	s   scale
	box volume.Box
}

func (f chunkFile) stat() (fs.FileInfo, error) {
	m, err := f.s.d.shown()
	if err != nil {
		return nil, err
	}
	return f.info(m)
}

func (f chunkFile) info(m *shown) (info, error) {
	base, err := m.Info()
	if err != nil {
		return info{}, err
	}
	a := m.describe(f.s.d.path, f.box)
	i := fileInfo(f.box.String(), a.Grid.Bytes(), base)
	i.version, i.stored = m.Version(), m.Share(f.box)
	return i, nil
}

func (f chunkFile) open() (fs.File, error) {
	m, err := f.s.d.shownNow(&f.box)
	if err != nil {
		return nil, err
	}
	i, err := f.info(m)
	if err != nil {
		return nil, err
	}
	m.Open()
	r := f.s.d.t.prefetch.NewReader(m.array(f.box, 0), prefetch.Once)
	if m.Cube().Channels == 1 {
		return newFile(i, header.Layout{}, r, m.Close), nil
	}
	defer m.Close() // all is read here
	defer r.Close()
	voxels := make([]byte, r.Array().Size())
	if _, err := r.ReadAt(context.Background(), voxels, 0); err != nil {
		return nil, err
	}
	return newFile(i, header.Layout{Head: planar(voxels, m.Cube().Channels, m.Cube().Type.Size())}, nil, nothing), nil
}

// planar makes the channel the slowest axis of voxels of so many values.
func planar(voxels []byte, channels, size int) []byte {
	n := len(voxels) / channels / size
	planes := make([]byte, 0, len(voxels))
	for c := range channels {
		for i := range n {
			at := (i*channels + c) * size
			planes = append(planes, voxels[at:at+size]...)
		}
	}
	return planes
}
