package importer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/internal/write/downsample"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// plan completes and validates the options.
func plan(ctx context.Context, in *arrayfile.Array, dir string, meta *metadata, o Options) (*layer, error) {
	l := &layer{Options: o, in: in, dir: filepath.Join(dir, o.Layer)}
	var needs []Need
	err := collect(&needs, l.checkName,
		func() error { return l.setAxes(meta.places(), false) },
		func() error { return l.setSides(meta) },
		func() error { return l.setVoxelSize(meta) },
		l.setBox,
		func() error { return l.doubtPosition(meta.places()) },
		func() error { return l.setCategory(ctx) },
		l.setMethod)
	if err == nil && len(needs) > 0 {
		err = &MissingError{needs}
	}
	if err != nil {
		return nil, err
	}
	l.part = l.box
	l.factors = factors(l.VoxelSize, l.in.Grid.Size, o.Mags)
	return l, nil
}

func (l *layer) checkName() error {
	name := l.Layer
	switch {
	case name == "":
		return missing(FieldLayer, errors.New("name the layer"))
	case !fs.ValidPath(name), strings.HasPrefix(name, "."), strings.ContainsAny(name, "/\x00"):
		return fmt.Errorf("layer %q: expected the name of a directory", name)
	case len(name) > maxName:
		return fmt.Errorf("layer %q: expected a name of at most %d bytes, found %d", jsonlimit.Abbreviate(name),
			maxName, len(name))
	case name == webknossos.PropertiesFile:
		return fmt.Errorf("layer %q: expected another name, found that of the metadata of the dataset", name)
	}
	info, err := os.Stat(l.dir)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("layer %q: expected the name of a directory, found %s, which is a file", name, l.dir)
	}
	return nil
}

// setSides sets the side of cubes, unless it is given: that of the dataset's other layers, or the smallest that holds
// the input. It checks that the format allows the sides of blocks and cubes.
func (l *layer) setSides(meta *metadata) error {
	if l.Cube == 0 {
		l.Cube = meta.cubeSide()
	}
	if l.Cube == 0 {
		for l.Cube = l.Block; l.Cube > 0 && l.Cube < min(maxCube, slices.Max(l.in.Grid.Size[:])); l.Cube *= 2 {
		}
	}
	if l.Block < 1 || l.Cube < l.Block || l.Cube%l.Block != 0 {
		return fmt.Errorf("cubes with sides of %d voxels: expected a power of two times the %d of a block", l.Cube,
			l.Block)
	}
	if _, err := l.header().MarshalBinary(); err != nil {
		return err
	}
	if n := l.header().Grid().BlockBytes(); n > wkw.MaxBlockBytes {
		return fmt.Errorf("blocks of %d bytes: expected at most %d", n, wkw.MaxBlockBytes)
	}
	return nil
}

// setMethod sets how coarser mags are computed: images by means, segmentations by the most frequent id.
func (l *layer) setMethod() (err error) {
	switch {
	case l.Downsample != "":
		l.method, err = downsample.ParseMethod(l.Downsample)
	case l.Category == Segmentation:
		l.method = downsample.Mode
	default:
		l.method = downsample.Mean
	}
	return err
}

func (l *layer) setBox() error {
	if l.Offset == nil && l.in.PositionErr != nil {
		return missing(FieldOffset, l.in.PositionErr)
	}
	at := l.at()
	for axis := range 3 {
		if at[axis] < 0 || at[axis] > arrayfile.MaxCoordinate || l.in.Grid.Size[axis] > arrayfile.MaxCoordinate {
			err := fmt.Errorf("%v voxels at %v: expected positions and sizes from 0 to 2^40: %w", l.in.Grid.Size, at,
				arrayfile.ErrPosition)
			if l.Offset == nil {
				err = missing(FieldOffset, err)
			}
			return err
		}
	}
	l.box = volume.Box{Min: at, Max: at.Add(l.in.Grid.Size)}
	return nil
}

// setVoxelSize sets the voxel size. It fails if the size differs from the dataset's.
func (l *layer) setVoxelSize(meta *metadata) error {
	size := l.VoxelSize
	if size == ([3]float64{}) {
		size = l.in.Grid.Spacing
	}
	have := meta.scale()
	if err := unknownVoxelSize(size, have); err != nil {
		return err
	}
	for axis := range 3 {
		switch {
		case have[axis] == 0:
			l.VoxelSize[axis] = size[axis]
		case size[axis] != 0 && !nearlyEqual(size[axis], have[axis]):
			return fmt.Errorf("%s: voxels of %s: all layers of the dataset have voxels of %s", l.in.Name(),
				lengths(size), lengths(have))
		default:
			l.VoxelSize[axis] = have[axis]
		}
	}
	return nil
}

// lengths returns the text of lengths on three axes, in nm.
func lengths(nm [3]float64) string { return fmt.Sprintf("%v × %v × %v nm", nm[0], nm[1], nm[2]) }

// nearlyEqual reports whether two lengths are equal with the precision of 32 bits, which headers have.
func nearlyEqual(a, b float64) bool { return a > b*(1-1e-4) && a < b*(1+1e-4) }

// header returns the header of all cubes of the layer.
func (l *layer) header() wkw.Header {
	return wkw.Header{
		BlockSide:  l.Block,
		CubeBlocks: l.Cube / l.Block,
		BlockType:  l.Compression,
		Type:       l.in.Grid.Type,
		Channels:   l.in.Grid.Channels,
	}
}
