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
func (c Gzip) Decode(dst, src []byte, limit int) ([]byte, error) {
	d := gzips.Get().(*gunzipper)
	defer d.release()
	d.src.Reset(src)
	if err := d.r.Reset(&d.src); err != nil {
		return nil, d.error(c, src, err)
	}
	return d.readAll(c, &d.r, dst, src, limit)
}

// Decode implements [Codec].
func (c Zlib) Decode(dst, src []byte, limit int) ([]byte, error) {
	d := zlibs.Get().(*inflater)
	defer d.release()
	d.src.Reset(src)
	if err := d.r.(zlib.Resetter).Reset(&d.src, nil); err != nil {
		return nil, d.error(c, src, err)
	}
	return d.readAll(c, d.r, dst, src, limit)
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
	gzips.Put(d)
}

func (d *inflater) release() {
	d.src.Reset(nil)
	zlibs.Put(d)
}
