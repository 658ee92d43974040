package main

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/volume"
)

// flatInput returns a function that opens a cube's plain file as an input.
func (b *bench) flatInput(data string) func(context.Context) (writing, error) {
	return func(ctx context.Context) (writing, error) {
		m, flat, err := b.flat(ctx, data)
		g := m.header.Grid()
		return writing{b: b, input: flat, flags: rawFlags(g.Size, g.Type), bytes: m.bytes(), mag: m, flat: flat}, err
	}
}

// gzipInput returns a function that opens a cube of uint8 as a compressed NIfTI file, which it makes unless it exists.
func (b *bench) gzipInput(data string) func(context.Context) (writing, error) {
	return func(ctx context.Context) (writing, error) {
		w, err := b.flatInput(data)(ctx)
		if err != nil {
			return w, err
		}
		w.flags, w.input = nil, filepath.Join(filepath.Dir(w.flat), "x0.nii.gz")
		return w, createOnce(w.input, w.bytes, func(part string) error {
			b.progress("making %s", w.input)
			return gzipNIfTI(ctx, part, w.flat, w.mag.header.Grid().Size)
		})
	}
}

// gzipNIfTI compresses a plain file of uint8 after a header.
func gzipNIfTI(ctx context.Context, path, flat string, size volume.Vec) error {
	from, err := os.Open(flat)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	cmd := command(ctx, "gzip", "-1")
	cmd.Stdout = to
	in, err := cmd.StdinPipe()
	if err != nil {
		return errors.Join(err, to.Close())
	}
	if err := cmd.Start(); err != nil {
		return errors.Join(err, to.Close())
	}
	_, headerErr := in.Write(niftiHeader(size))
	_, err = io.Copy(in, from)
	return errors.Join(headerErr, err, in.Close(), cmd.Wait(), to.Close())
}

// niftiHeader returns the header of a NIfTI-1 file of uint8, with the fields that an import needs.
func niftiHeader(size volume.Vec) []byte {
	const length, voxels = 348, 352
	b := make([]byte, voxels)
	le := binary.LittleEndian
	le.PutUint32(b, length)
	for i, n := range []int{3, size[0], size[1], size[2], 1, 1, 1, 1} {
		le.PutUint16(b[40+2*i:], uint16(n)) // dim
	}
	le.PutUint16(b[70:], 2) // datatype: uint8
	le.PutUint16(b[72:], 8) // bits of a voxel
	for i := range 4 {
		le.PutUint32(b[76+4*i:], math.Float32bits(1)) // pixdim
	}
	le.PutUint32(b[108:], math.Float32bits(voxels)) // their offset
	b[123] = 2                                      // lengths in mm
	copy(b[344:], "n+1\x00")
	return b
}

// wideInput opens a plain file of uint32 with large planes, which it makes unless it exists. Most of it is a hole. The rest are
// the bytes of Q and R.
func (b *bench) wideInput(ctx context.Context) (writing, error) {
	_, labels, err := b.flat(ctx, dataQ)
	if err != nil {
		return writing{}, err
	}
	_, image, err := b.flat(ctx, dataR)
	size := b.sizes.wide
	path := filepath.Join(b.dir, nameWithSize("wide", size[0])+".raw")
	w := writing{b: b, input: path, flags: rawFlags(size, volume.Uint32), bytes: 4 * int64(size[0]*size[1]*size[2])}
	if err != nil {
		return w, err
	}
	return w, createOnce(path, w.bytes/8, func(part string) error {
		b.progress("making %s", path)
		return writeWide(ctx, part, size, labels, image)
	})
}

// writeWide writes a file of uint32 with holes. In each slab, every 4th row of blocks gets an eighth of its length from one of
// the other files in turn, page by page: 1 byte of 32 is not in a hole.
func writeWide(ctx context.Context, path string, size volume.Vec, from ...string) error {
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	defer to.Close()
	row := size[0] * 4
	if err := to.Truncate(int64(row * size[1] * size[2])); err != nil {
		return err
	}
	files := make([]*os.File, len(from))
	for i, name := range from {
		if files[i], err = os.Open(name); err != nil {
			return err
		}
		defer files[i].Close()
	}
	piece := make([]byte, row/8)
	read := make([]int64, len(files))
	for z := range size[2] {
		for y := range size[1] {
			blockRow := y / blockSide
			if blockRow%4 != 0 {
				continue
			}
			i := blockRow / 4 % len(files)
			if _, err := files[i].ReadAt(piece, read[i]); err != nil {
				return err
			}
			read[i] += int64(len(piece))
			off := (y+z*size[1])*row + blockRow/4%8*len(piece)
			if _, err := to.WriteAt(piece, int64(off)); err != nil {
				return err
			}
		}
	}
	return errors.Join(ctx.Err(), to.Close())
}
