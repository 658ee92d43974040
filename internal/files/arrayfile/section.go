package arrayfile

import (
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// section is where the voxels of an array are stored as one flat array.
type section struct {
	*file
	offset   int64    // of the stored bytes
	encoding encoding // of the stored bytes
	skip     int64    // plain bytes before the voxels
	exact    bool     // no bytes may follow the voxels; always the case in a compressed stream
	half     bool     // values are stored as float16, and read as float32
	stream   *stream  // if it is open already
}

// setVoxels sets the section of the voxels. It fails if the section is too short.
func (a *Array) setVoxels(s section) error {
	if err := a.validate(s.Name()); err != nil {
		return err
	}
	want := a.Grid.Bytes()
	value := a.Grid.Type.Size()
	if s.half {
		want, value = want/2, value/2
	}
	if s.skip < 0 || s.skip > math.MaxInt64-want {
		return invalid(s.Name(), "bytes before the voxels", 0, "0 to 2^62", fmt.Sprint(s.skip))
	}
	f := flat{
		ReaderAt: s.file, name: s.Name(), offset: s.offset + s.skip, size: a.Grid.Size,
		value: value, channels: a.Grid.Channels, swapped: a.bigEndian, half: s.half, limits: usual,
	}
	if s.encoding != rawEncoding {
		var err error
		if f.ReaderAt, err = a.openSection(s, want); err != nil {
			return err
		}
		f.offset, f.sequential = s.skip, true
	} else if rest := s.size - f.offset; rest < want || s.exact && rest != want {
		return invalid(s.Name(), "voxels", f.offset, fmt.Sprintf("%d bytes for %s", want, a.describe()),
			fmt.Sprint(rest))
	}
	a.voxels = f
	return nil
}

// openSection opens the stream of a compressed section with a number of bytes of voxels.
func (a *Array) openSection(s section, want int64) (_ *stream, err error) {
	// The importer takes memory for whole planes, which a small file must not be able to ask for.
	if rest := s.size - s.offset; (want+s.skip)/maxRatio[s.encoding] > rest {
		return nil, invalid(s.Name(), "compressed voxels", s.offset,
			fmt.Sprintf("at least %d bytes for %s", (want+s.skip)/maxRatio[s.encoding], a.describe()), fmt.Sprint(rest))
	}
	if s.stream == nil {
		if s.stream, err = openStream(s.file, s.offset, s.encoding); err != nil {
			return nil, err
		}
	}
	s.stream.end = s.skip + want
	return s.stream, nil
}

// describe returns the number and type of the voxels.
func (a *Array) describe() string {
	return fmt.Sprintf("%v voxels of %d × %v", a.Grid.Size, a.Grid.Channels, a.Grid.Type)
}

func (a *Array) validate(name string) error {
	a.Grid.Block = volume.Cube(1)
	if err := a.Grid.Validate(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
