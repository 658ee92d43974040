package arrayfile

import (
	"bufio"
	"fmt"
	"image"
	"io"

	"github.com/wkwfs/wkwfs/volume"
)

// picture is a plane that is a PNG or JPEG file of its own.
type picture struct {
	*file
	format string
	grid   volume.Grid
	decode func(io.Reader) (image.Image, error)
}

func (p *picture) shape() volume.Grid     { return p.grid }
func (p *picture) decoded() bool          { return true }
func (p *picture) where() (string, int64) { return p.Name(), -1 }

func (p *picture) readBox(box volume.Box, dst []byte) error { return readColumns(p, box, dst) }

// maxPicture is the greatest size of a picture in bytes. It is decoded as a whole.
const maxPicture = 1 << 32

// newPicture returns a picture with this size and type. ratio is the greatest number of pixels that a stored byte can
// stand for.
func newPicture(f *file, format string, size volume.Vec, t volume.Type, channels int, ratio int64) (*picture, error) {
	p := &picture{file: f, format: format}
	p.grid = volume.Grid{Size: size, Block: volume.Cube(1), Type: t, Channels: channels}
	if err := p.grid.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if p.grid.Bytes() > maxPicture {
		return nil, invalid(f.Name(), "pixels", 0, fmt.Sprintf("at most %d bytes of them", int64(maxPicture)),
			text(p.grid))
	}
	if least := int64(size[0]) * int64(size[1]) / ratio; f.size < least {
		return nil, invalid(f.Name(), "pixels", 0, fmt.Sprintf("at least %d bytes for %s", least, text(p.grid)),
			fmt.Sprint(f.size))
	}
	return p, nil
}

// readRows implements plane. It decodes the whole picture.
func (p *picture) readRows(y0, y1 int, dst []byte) error {
	r, done, err := p.reader()
	if err != nil {
		return err
	}
	defer done()
	m, err := p.decode(bufio.NewReaderSize(io.NewSectionReader(r, 0, p.size), 1<<16))
	if err != nil {
		return fmt.Errorf("%s: %s: %w", p.Name(), p.format, noEOF(err))
	}
	if b := m.Bounds(); b.Dx() != p.grid.Size[0] || b.Dy() != p.grid.Size[1] {
		return p.changed()
	}
	row := p.grid.Size[0] * p.grid.VoxelBytes()
	for y := y0; y < y1; y++ {
		if !copyRow(dst[(y-y0)*row:][:row], m, y, p.grid.Channels) {
			return fmt.Errorf("%s: %s decoded as %T: expected %s", p.Name(), p.format, m, text(p.grid))
		}
	}
	return nil
}

// copyRow copies row y of a picture into dst. It reports false for a picture that cannot have these channels.
func copyRow(dst []byte, m image.Image, y, channels int) bool {
	switch m := m.(type) {
	case *image.Gray:
		return channels == 1 && copy(dst, m.Pix[y*m.Stride:]) == len(dst)
	case *image.Paletted:
		return channels == 1 && copy(dst, m.Pix[y*m.Stride:]) == len(dst)
	case *image.Gray16:
		copy(dst, m.Pix[y*m.Stride:])
		swap(dst, 2)
		return channels == 1
	case *image.RGBA:
		pick(dst, m.Pix[y*m.Stride:], channels, 4)
	case *image.NRGBA:
		pick(dst, m.Pix[y*m.Stride:], channels, 4)
	case *image.RGBA64:
		pick(dst, m.Pix[y*m.Stride:], 2*channels, 8)
		swap(dst, 2)
	case *image.NRGBA64:
		pick(dst, m.Pix[y*m.Stride:], 2*channels, 8)
		swap(dst, 2)
	case *image.YCbCr:
		copyYCbCr(dst, m, y)
		return channels == 3
	default:
		return false
	}
	return true
}

// pick copies the first n bytes of each pixel. Pixels have size bytes.
func pick(dst, src []byte, n, size int) {
	for ; len(dst) >= n; dst, src = dst[n:], src[size:] {
		copy(dst[:n], src)
	}
}
