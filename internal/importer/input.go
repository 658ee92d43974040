package importer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Input is an array of voxels in a file, or in a folder of files, in Fortran order with
// interleaved channels. It is safe for use by many goroutines at once.
type Input struct {
	// Grid says type, channels, size and, as far as the header knows it, spacing in nm.
	// Origin is that of the header in voxels, if Placed. There are no blocks.
	Grid   volume.Grid
	Placed bool
	// Misplaced is what is wrong with the header's place, if it has one that cannot be
	// used. The voxels are as good as any.
	Misplaced error

	data      io.ReaderAt
	at        int64 // offset of the first voxel in data, in bytes
	bigEndian bool
	files     []*inputFile // all that was opened
}

// inputFile is a file of an input, and what it was when it was opened.
type inputFile struct {
	*os.File
	size    int64
	version vfs.Version
}

// RawShape says what a file without a header holds.
type RawShape struct {
	Size      volume.Vec
	Type      volume.Type
	Channels  int
	BigEndian bool
}

// Open opens an input whose format is recognised by its first bytes, or a folder of
// TIFF files, one plane each, in the order of the numbers in their names.
func Open(path string) (*Input, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return opened(openFolder, path)
	}
	return opened(openFile, path)
}

// OpenRaw opens a file that holds nothing but voxels.
func OpenRaw(path string, s RawShape) (*Input, error) {
	return opened(func(in *Input, path string) error { return in.openRaw(path, s) }, path)
}

// opened closes what was opened when it fails in the middle.
func opened(open func(*Input, string) error, path string) (*Input, error) {
	in := &Input{}
	if err := open(in, path); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

func openFile(in *Input, path string) error {
	f, err := in.open(path)
	if err != nil {
		return err
	}
	start := make([]byte, min(f.size, headStart))
	if _, err := f.ReadAt(start, 0); err != nil && err != io.EOF {
		return err
	}
	switch {
	case bytes.HasPrefix(start, []byte(npyMagic)):
		return in.openNPY(f)
	case bytes.HasPrefix(start, []byte(nrrdMagic)):
		return in.openNRRD(f)
	case isTIFF(start):
		return in.openTIFF(f)
	case isNIfTI(start):
		return in.openNIfTI(f, start)
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		return fmt.Errorf("%s: compressed by gzip: expand it with gunzip first", path)
	}
	return fmt.Errorf("%s: %w", path, ErrNotRecognised)
}

// headStart is as many bytes as formats are recognised by, and a NIfTI header has.
const headStart = 544

// open opens a file and remembers what it was.
func (in *Input) open(path string) (*inputFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	file := &inputFile{f, info.Size(), vfs.VersionOf(info)}
	in.files = append(in.files, file)
	return file, nil
}

// Close closes the files.
func (in *Input) Close() error {
	var all []error
	for _, f := range in.files {
		all = append(all, f.Close())
	}
	return errors.Join(all...)
}

// setVoxels says where the voxels are: from the offset on in the file f. Whatever
// follows them is an error if they are to be exactly the rest.
func (in *Input) setVoxels(f *inputFile, at int64, exactly bool) error {
	if err := in.validate(f.Name()); err != nil {
		return err
	}
	rest, want := f.size-at, in.Grid.Bytes()
	if rest < want || exactly && rest != want {
		return &FormatError{f.Name(), "voxels", at,
			fmt.Sprintf("%d bytes for %v voxels of %d × %v", want, in.Grid.Size, in.Grid.Channels, in.Grid.Type), fmt.Sprint(rest)}
	}
	in.data, in.at = f, at
	return nil
}

func (in *Input) validate(name string) error {
	in.Grid.Block = volume.Cube(1)
	if err := in.Grid.Validate(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// unchanged reports an error if a file is not what it was when it was opened.
func (in *Input) unchanged() error {
	for _, f := range in.files {
		info, err := os.Stat(f.Name())
		if err != nil {
			return err
		}
		if vfs.VersionOf(info) != f.version {
			return fmt.Errorf("%s: the file has changed since it was opened", f.Name())
		}
	}
	return nil
}

// readBox reads the voxels of a box, in voxels of the input, into dst, an array of the
// size to, at the place where box.Min becomes place. Values become little-endian.
func (in *Input) readBox(ctx context.Context, box volume.Box, dst []byte, to, place volume.Vec) error {
	voxel := in.Grid.VoxelBytes()
	run := box.Size()[0] * voxel
	for z := box.Min[2]; z < box.Max[2]; z++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		for y := box.Min[1]; y < box.Max[1]; y++ {
			p := volume.Vec{box.Min[0], y, z}
			row := dst[p.Sub(box.Min).Add(place).Index(to)*voxel:][:run]
			off := in.at + int64(p.Index(in.Grid.Size))*int64(voxel)
			if n, err := in.data.ReadAt(row, off); n < run {
				return fmt.Errorf("%s: voxel %v at byte %d: %w", in.name(), p, off, noEOF(err))
			}
			in.order(row)
		}
	}
	return nil
}

func (in *Input) name() string {
	if len(in.files) > 1 {
		return filepath.Dir(in.files[0].Name())
	}
	return in.files[0].Name()
}

// order makes the values of a row little-endian.
func (in *Input) order(row []byte) {
	if size := in.Grid.Type.Size(); in.bigEndian && size > 1 {
		for value := range slices.Chunk(row, size) {
			slices.Reverse(value)
		}
	}
}

// noEOF turns the end of a file, where there should be more, into what it is.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// byteOrder is what both encoding/binary orders can do.
func byteOrder(big bool) binary.ByteOrder {
	if big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}
