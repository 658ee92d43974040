package codec

import (
	"bytes"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
)

// Gzip is members of RFC 1952, one or more. The checksum and the length of each are verified.
type Gzip struct{}

// Zlib is one stream of RFC 1950. Its checksum is verified.
type Zlib struct{}

// Decode implements [Codec].
func (c Gzip) Decode(dst, src []byte, limit int) (b []byte, err error) {
	dst = room(dst, limit)
	if n, ok := Gunzip(dst[:limit], src); ok {
		return dst[:n], nil
	}
	err = c.open(src, nil, func(d *gunzipper) error {
		b, err = d.readAll(c, &d.r, dst, limit)
		return err
	})
	return b, err
}

// DecodePrefix implements [PrefixDecoder].
func (c Gzip) DecodePrefix(dst, src []byte) error {
	return c.open(src, nil, func(d *gunzipper) error { return d.readPrefix(c, &d.r, dst) })
}

// DecodeStream implements [StreamDecoder].
func (c Gzip) DecodeStream(dst []byte, s *Stream, prefix bool) error {
	return c.open(nil, s, func(d *gunzipper) error {
		if prefix {
			return d.readPrefix(c, &d.r, dst)
		}
		b, err := d.readAll(c, &d.r, dst, len(dst))
		if err == nil && len(b) != len(dst) {
			err = wrongLength(c, len(dst), len(b))
		}
		return err
	})
}

// open calls use with a decoder at the start of src, or of s if that is not nil.
func (c Gzip) open(src []byte, s *Stream, use func(*gunzipper) error) error {
	d := gzips.Get().(*gunzipper)
	defer d.release()
	d.src.Reset(src)
	d.stream = s
	if err := d.r.Reset(d.reader()); err != nil {
		return d.error(c, err)
	}
	return use(d)
}

// Decode implements [Codec].
func (c Zlib) Decode(dst, src []byte, limit int) (b []byte, err error) {
	dst = room(dst, limit)
	if n, ok := inflateZlib(dst[:limit], src); ok {
		return dst[:n], nil
	}
	err = c.open(src, nil, func(d *inflater) error {
		b, err = d.readAll(c, d.r, dst, limit)
		return err
	})
	return b, err
}

// DecodePrefix implements [PrefixDecoder].
func (c Zlib) DecodePrefix(dst, src []byte) error {
	return c.open(src, nil, func(d *inflater) error { return d.readPrefix(c, d.r, dst) })
}

// DecodeStream implements [StreamDecoder].
func (c Zlib) DecodeStream(dst []byte, s *Stream, prefix bool) error {
	return c.open(nil, s, func(d *inflater) error {
		if prefix {
			return d.readPrefix(c, d.r, dst)
		}
		b, err := d.readAll(c, d.r, dst, len(dst))
		if err == nil && len(b) != len(dst) {
			err = wrongLength(c, len(dst), len(b))
		}
		return err
	})
}

// open calls use with a decoder at the start of src, or of s if that is not nil.
func (c Zlib) open(src []byte, s *Stream, use func(*inflater) error) error {
	d := zlibs.Get().(*inflater)
	defer d.release()
	d.src.Reset(src)
	d.stream = s
	if err := d.r.(zlib.Resetter).Reset(d.reader(), nil); err != nil {
		return d.error(c, err)
	}
	return use(d)
}

// Bound implements [Codec].
func (Gzip) Bound(n int) int { return deflateBound(n) }

// Bound implements [Codec].
func (Zlib) Bound(n int) int { return deflateBound(n) }

// deflateBound is that of encoders that store what they cannot compress in blocks of 8 KiB or more, or compress it with
// codes of 9 bits. A header may have a comment.
func deflateBound(n int) int { return n + n/8 + 1<<16 }

func (Gzip) String() string { return "gzip" }
func (Zlib) String() string { return "zlib" }

type gunzipper struct {
	input
	r gzip.Reader
}

type inflater struct {
	input
	r io.ReadCloser
}

var gzips = sync.Pool{New: func() any { return new(gunzipper) }}

var zlibs = sync.Pool{New: func() any {
	r, err := zlib.NewReader(bytes.NewReader([]byte{0x78, 0x9c})) // the shortest that NewReader accepts
	if err != nil {
		panic(err)
	}
	return &inflater{r: r}
}}

func (d *gunzipper) release() {
	d.src.Reset(nil)
	d.stream = nil
	gzips.Put(d)
}

func (d *inflater) release() {
	d.src.Reset(nil)
	d.stream = nil
	zlibs.Put(d)
}
