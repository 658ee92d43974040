package main

import (
	"archive/zip"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// segmentationLayer is the name of the layer of Q as a dataset of WEBKNOSSOS.
const segmentationLayer = "segmentation"

// withLayer returns the dataset as a dataset of WEBKNOSSOS with one layer. The cube is the same file.
func (d *dataset) withLayer() form {
	path := filepath.Join(d.dir, "dataset")
	return form{path, "", func(context.Context) error {
		return createOnce(path, func(part string) error {
			mag := filepath.Join(part, segmentationLayer, "1")
			properties := fmt.Sprintf(`{"id": {"name": "Q", "team": ""}, "scale": {"factor": [11.24, 11.24, 25], "unit": "nanometer"}, "dataLayers": [
				{"name": "segmentation", "category": "segmentation", "elementClass": "uint32", "dataFormat": "wkw", "largestSegmentId": 4294967295,
				 "boundingBox": {"topLeft": [0, 0, 0], "width": %[1]d, "height": %[1]d, "depth": %[1]d},
				 "wkwResolutions": [{"resolution": [1, 1, 1], "cubeLength": %[1]d}]}]}`, d.grid.Size[0])
			return errors.Join(
				os.MkdirAll(filepath.Dir(cubeOf(mag)), 0o777),
				os.Link(cubeOf(d.mag), cubeOf(mag)),
				os.Link(filepath.Join(d.mag, "header.wkw"), filepath.Join(mag, "header.wkw")),
				os.WriteFile(filepath.Join(part, wkw.PropertiesFile), []byte(properties), 0o666),
			)
		})
	}}
}

// annotated is the share of blocks that an annotation has: one of 20.
const annotated = 20

// annotation returns the download of an annotation of the dataset with 5 % of its blocks. They have the same voxels as the dataset, so
// that all contenders read the same bytes.
func (d *dataset) annotation() form {
	path := filepath.Join(d.dir, "annotation.zip")
	return form{path, "", func(ctx context.Context) error {
		return errors.Join(d.withLayer().create(ctx), createOnce(path, func(part string) (err error) {
			f, err := os.Create(part)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, f.Close()) }()
			z := zip.NewWriter(f)
			nml, err := z.Create("annotation.nml")
			if err != nil {
				return err
			}
			if _, err := io.WriteString(nml, `<things><parameters><experiment name="Q"/><scale x="11.24" y="11.24" z="25"/></parameters>`+
				`<volume id="0" name="segmentation" location="data_0.zip" fallbackLayer="segmentation"/></things>`); err != nil {
				return err
			}
			data, err := z.CreateHeader(&zip.FileHeader{Name: "data_0.zip", Method: zip.Store})
			if err != nil {
				return err
			}
			return errors.Join(d.writeAnnotated(ctx, data), z.Close())
		}))
	}}
}

// writeAnnotated writes the data of an annotation: a zip with a cube of one block each for every twentieth block.
func (d *dataset) writeAnnotated(ctx context.Context, w io.Writer) error {
	cube, err := d.open()
	if err != nil {
		return err
	}
	defer cube.Close()
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	h := wkw.Header{BlockSide: blockSide, CubeBlocks: 1, BlockType: wkw.LZ4, Type: d.grid.Type, Channels: 1, DataOffset: wkw.HeaderSize + 8}
	encoder := wkw.NewEncoder(h)
	n := 0
	for at := range (volume.Box{Max: d.grid.Blocks()}).All() {
		if n++; n%annotated != 0 {
			continue
		}
		voxels, err := volume.ReadBlock(ctx, cube, at)
		if err != nil {
			return err
		}
		head, err := h.MarshalBinary()
		if err != nil {
			return err
		}
		block, err := encoder.Encode(nil, voxels)
		if err != nil {
			return err
		}
		member, err := z.Create(fmt.Sprintf("1/z%d/y%d/x%d.wkw", at[2], at[1], at[0]))
		if err != nil {
			return err
		}
		file := append(binary.LittleEndian.AppendUint64(head, h.DataOffset+uint64(len(block))), block...)
		if _, err := member.Write(file); err != nil {
			return err
		}
	}
	return z.Close()
}

// The names of contenders that compute what they show.
const (
	mergedName = "wkwfs, merged"
	mappedName = "wkwfs, mapped"
	itselfName = "wkwfs, Q itself"
)

// computed returns a merged or mapped layer beside the layer itself, and a file in their mags.
func computed(name, file string, show func(b *bench, d *dataset, file string) []contender) func(*bench, *dataset) []contender {
	return func(b *bench, d *dataset) []contender {
		below := d.withLayer()
		itself := b.wkwfs(local(below.path, cubeOf(d.mag)), filepath.Join(segmentationLayer, "1", file))
		itself.name, itself.create = itselfName, below.create
		all := show(b, d, file)
		all[0].name = name
		return append(all, itself)
	}
}

// merged returns the dataset with an annotation over it.
func merged(b *bench, d *dataset, file string) []contender {
	f := d.annotation()
	c := b.mounted(f, filepath.Join(segmentationLayer, "1", file), "--over", d.withLayer().path)
	c.stored = append(c.stored, cubeOf(d.mag))
	return b.among(f, c)
}

// mapped returns the dataset with its ids mapped by a table.
func mapped(b *bench, d *dataset, file string) []contender {
	below, table := d.withLayer(), b.table(d)
	c := b.wkwfs(local(below.path, cubeOf(d.mag), table.path), filepath.Join(segmentationLayer+"@table", "1", file),
		"--relabel", segmentationLayer+"="+table.path)
	both := form{below.path, table.modules, func(ctx context.Context) error { return errors.Join(below.create(ctx), table.create(ctx)) }}
	return b.among(both, c)
}
