package precomputed

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/volume"
)

// compression is the compression of a stored chunk, apart from its encoding.
type compression int

const (
	plain      compression = iota
	undeclared             // plain or gzip: the bytes decide
	gzipped                // as those below, declared by the file name; gzip also by the info file
	brotlied
	zstded
	xzed
	bzipped
)

// forms are the names that the file of a chunk may have, as CloudVolume and cloud-files write them, and in their order.
// Other programs write .zst.
var forms = []struct {
	suffix      string
	compression compression
}{
	{"", undeclared}, {gzipSuffix, gzipped}, {".br", brotlied}, {".zstd", zstded}, {".zst", zstded}, {".xz", xzed},
	{".bz2", bzipped},
}

// usualForms is how many of the forms are asked for before a listing tells whether there is a file at all: each takes a
// request.
const usualForms = 2

// isForm reports whether a suffix is that of one of the forms.
func isForm(suffix string) bool {
	for _, form := range forms {
		if form.suffix == suffix {
			return true
		}
	}
	return false
}

// temporary are the suffixes of files that no program has completed. They are no chunks.
var temporary = []string{".tmp", ".part", ".partial", ".lock"}

// withoutSuffix returns the name of a file without the suffix of a compression, known or not.
func withoutSuffix(name string) string {
	stem, _, _ := strings.Cut(name, ".")
	for _, suffix := range temporary {
		if strings.HasSuffix(name, suffix) {
			return name
		}
	}
	return stem
}

// codecs are those that need all stored bytes in memory. They decode into memory of the caller, whatever window the
// bytes claim.
var codecs = map[compression]codec.Codec{zstded: codec.Zstd{}, xzed: codec.XZ{}, bzipped: codec.Bzip2{}}

// brotliWindow is the most memory that a decoder of RFC 7932 takes, nearly all of it for its window.
const brotliWindow = 17 << 20

// unpackMemory returns how much memory the decompression of a chunk takes besides its result.
func (s *scaleInfo) unpackMemory(by compression) int {
	if by == brotlied {
		return brotliWindow
	}
	c, ok := codecs[by]
	if !ok {
		return 0
	}
	size := s.chunk.Min(s.bounds.Size())
	return s.maxStored(size) + codec.Scratch(c, s.maxEncoded(size))
}

// unpack decompresses the stored bytes into dst, and checks checksums and lengths. It returns how many bytes that is.
// More than dst has are an error.
func (c *chunk) unpack(by compression, in *chunkReader, dst []byte) (n int, err error) {
	switch known := codecs[by]; {
	case known != nil:
		n, err = c.decodeWhole(known, in, dst)
	case by == brotlied:
		n, err = unbrotli(in.buffered(), dst)
	default:
		n, err = c.gunzipChunk(in, dst)
	}
	if in.failed != nil {
		return 0, in.failed
	}
	return n, c.undecodable(err)
}

// gunzipChunk decompresses a chunk that is not large in one piece, which is faster.
func (c *chunk) gunzipChunk(in *chunkReader, dst []byte) (int, error) {
	if c.size > maxWhole {
		return gunzip(in.buffered(), dst)
	}
	stored := scratch.Get(int(c.size))
	defer scratch.Put(stored)
	if err := in.readFull(*stored); err != nil {
		return 0, err
	}
	return gunzipBytes(*stored, dst)
}

func (c *chunk) decodeWhole(by codec.Codec, in *chunkReader, dst []byte) (int, error) {
	stored := scratch.Get(int(c.size))
	defer scratch.Put(stored)
	if err := in.readFull(*stored); err != nil {
		return 0, err
	}
	b, err := by.Decode(dst, *stored, len(dst))
	return len(b), err
}

var brotliReaders = sync.Pool{New: func() any { return new(brotli.Reader) }}

func unbrotli(in io.Reader, dst []byte) (int, error) {
	r := brotliReaders.Get().(*brotli.Reader)
	if err := r.Reset(in); err != nil {
		return 0, err
	}
	n, err := readAll(r, dst)
	if err != nil {
		return 0, fmt.Errorf("decompressing: %w", err)
	}
	r.Reset(strings.NewReader("")) // keeps no reference to in; it cannot fail
	brotliReaders.Put(r)
	return n, nil
}

// readAll reads all of r, at most as many bytes as dst has.
func readAll(r io.Reader, dst []byte) (n int, err error) {
	for n < len(dst) && err == nil {
		var m int
		m, err = r.Read(dst[n:])
		n += m
	}
	for err == nil {
		var m int
		var past [1]byte
		if m, err = r.Read(past[:]); m > 0 {
			return 0, fmt.Errorf("more than %d bytes", len(dst))
		}
	}
	if err != io.EOF {
		return 0, err
	}
	return n, nil
}

// look calls try with the names that the file of a chunk may have, until one is there. Other errors of try end it. The
// error is fs.ErrNotExist only if the chunk is absent: no file has its name with another suffix, and no link has it.
func (f *files) look(op string, c volume.Vec, try func(name string, by compression) error) error {
	for i, form := range forms {
		if i == usualForms {
			if err := f.listedAs(op, c); err != nil {
				return err
			}
		}
		if err := try(f.path(c)+form.suffix, form.compression); !isAbsent(err) {
			return err
		}
	}
	return f.missing(op, c)
}
