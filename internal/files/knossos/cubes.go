package knossos

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/snappy"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/precomputed/picture"
	"github.com/wkwfs/wkwfs/volume"
)

// kind is how the cubes of a layer are stored.
type kind struct {
	suffix   string
	category string
	typ      volume.Type
	codecs   codec.Chain
	name     string // of the compression
}

// The categories of layers.
const (
	image        = "color"
	segmentation = "segmentation"
)

// kinds are those that are supported. Where a layer has several, the first one counts.
var kinds = []kind{
	{".raw", image, volume.Uint8, nil, "raw"},
	{".png", image, volume.Uint8, codec.Chain{pictures{"png"}}, "png"},
	{".jpg", image, volume.Uint8, codec.Chain{pictures{"jpeg"}}, "jpeg"},
	{".jpeg", image, volume.Uint8, codec.Chain{pictures{"jpeg"}}, "jpeg"},
	{".seg.sz.zip", segmentation, volume.Uint64, codec.Chain{snappies{}, zips{}}, "snappy, zip"},
	{".seg.sz", segmentation, volume.Uint64, codec.Chain{snappies{}}, "snappy"},
	{".seg", segmentation, volume.Uint64, nil, "raw"},
}

// kindOf returns the kind with a suffix. ok is false if it is not supported.
func kindOf(suffix string) (k kind, ok bool) {
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.suffix == suffix })
	if at < 0 {
		return k, false
	}
	return kinds[at], true
}

// suffixesOf returns the suffixes of the supported kinds, for errors.
func suffixesOf(kinds []kind) string {
	var all []string
	for _, k := range kinds {
		all = append(all, k.suffix)
	}
	return strings.Join(all, ", ")
}

// pictures are gray pictures, of any width, with a pixel for each voxel.
type pictures struct{ format string }

// Decode implements [codec.Codec]. A cube has exactly limit voxels.
func (p pictures) Decode(dst, src []byte, limit int) ([]byte, error) {
	dst = room(dst, limit)
	decode := picture.DecodePNG
	if p.format == "jpeg" {
		decode = picture.DecodeJPEG
	}
	if err := decode(src, limit, 1, 1, dst); err != nil {
		return nil, err
	}
	return dst, nil
}

// Bound implements [codec.Codec]. A picture of noise is not much longer than its pixels.
func (pictures) Bound(n int) int { return 2*n + 1<<16 }

// Scratch implements [codec.Scratcher].
func (p pictures) Scratch(n int) int {
	if p.format == "jpeg" {
		return picture.JPEGMemory(n, 1, 1)
	}
	return picture.PNGMemory(n, 1, 1)
}

func (p pictures) String() string { return p.format }

// snappies are single blocks of Snappy, without frames.
type snappies struct{}

// Decode implements [codec.Codec]. The length that a block claims is checked before.
func (c snappies) Decode(dst, src []byte, limit int) ([]byte, error) {
	n, err := snappy.DecodedLen(src)
	if err == nil && n > limit {
		return nil, invalid(c, fmt.Sprintf("at most %d decoded bytes", limit), fmt.Sprint(n))
	}
	if err == nil {
		dst, err = snappy.Decode(room(dst, limit)[:n], src)
	}
	if err != nil {
		return nil, &volume.FormatError{Part: "snappy data", Offset: -1, Err: err}
	}
	return dst, nil
}

// Bound implements [codec.Codec].
func (snappies) Bound(n int) int { return snappy.MaxEncodedLen(n) }

func (snappies) String() string { return "snappy" }

// zips are archives with one file.
type zips struct{}

// Decode implements [codec.Codec]. The checksum of the file is verified.
func (c zips) Decode(dst, src []byte, limit int) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(src), int64(len(src)))
	if err != nil {
		return nil, &volume.FormatError{Part: "zip directory", Offset: -1, Err: err}
	}
	if len(z.File) != 1 {
		return nil, invalid(c, "one file", fmt.Sprint(len(z.File)))
	}
	if n := z.File[0].UncompressedSize64; n > uint64(limit) {
		return nil, invalid(c, fmt.Sprintf("at most %d bytes in its file", limit), fmt.Sprint(n))
	}
	f, err := z.File[0].Open()
	if err != nil {
		return nil, c.failed(err)
	}
	defer f.Close()
	dst = room(dst, limit)
	n, err := io.ReadFull(f, dst[:z.File[0].UncompressedSize64])
	if err == nil {
		_, err = f.Read(make([]byte, 1)) // compares the checksum
	}
	if !errors.Is(err, io.EOF) {
		return nil, c.failed(err)
	}
	return dst[:n], nil
}

func (c zips) failed(err error) error {
	if err == nil {
		err = errors.New("its file is longer than the directory says")
	}
	if errors.Is(err, zip.ErrAlgorithm) {
		return &volume.UnsupportedError{Part: "zip file", Offset: -1, Err: err}
	}
	return &volume.FormatError{Part: "zip file", Offset: -1, Err: err}
}

// Bound implements [codec.Codec]. Deflate may store its input, and the directory has names and a comment.
func (zips) Bound(n int) int { return n + n/8 + 1<<17 }

func (zips) String() string { return "zip" }

func invalid(c codec.Codec, expected, found string) error {
	return &volume.FormatError{Part: c.String() + " data", Offset: -1, Expected: expected, Found: found}
}

// room returns memory of limit bytes: that of dst, or new one.
func room(dst []byte, limit int) []byte {
	if cap(dst) < limit {
		return make([]byte, limit)
	}
	return dst[:limit:limit]
}
