package importer

import (
	"bytes"
	"compress/zlib"
	"container/list"
	"fmt"
	"io"
	"sync"

	"golang.org/x/image/tiff/lzw"

	"github.com/wkwfs/wkwfs/volume"
)

const (
	// maxStrip bounds a compressed strip: it is expanded as a whole.
	maxStrip = 1 << 28
	// keptStrips bounds the expanded strips that are kept, in bytes.
	keptStrips = 1 << 28
)

// tiffPlanes is pages, one after the other, as one flat array. It is an io.ReaderAt.
type tiffPlanes struct {
	pages []*tiffPage
	kept  stripCache
}

// ReadAt reads bytes of the planes as if they followed each other.
func (t *tiffPlanes) ReadAt(p []byte, off int64) (n int, err error) {
	plane := t.pages[0].grid.Bytes()
	for n < len(p) {
		at := off + int64(n)
		if at/plane >= int64(len(t.pages)) {
			return n, io.EOF
		}
		page := t.pages[at/plane]
		full := page.stripBytes(0)
		strip, inside := int(at%plane/full), at%plane%full
		part := p[n:]
		part = part[:min(int64(len(part)), page.stripBytes(strip)-inside)]
		if err := t.readStrip(page, strip, part, inside); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

// readStrip reads bytes of a strip, from inside on.
func (t *tiffPlanes) readStrip(page *tiffPage, strip int, p []byte, inside int64) error {
	if page.compression == tiffPlain {
		n, err := page.f.ReadAt(p, int64(page.offsets[strip])+inside)
		if n == len(p) {
			return nil
		}
		return noEOF(err)
	}
	expanded, err := t.kept.get(page, strip)
	if err != nil {
		return fmt.Errorf("%s: strip at byte %d: %w", page.f.Name(), page.offsets[strip], err)
	}
	copy(p, expanded[inside:])
	return nil
}

// expand reads a compressed strip.
func (p *tiffPage) expand(strip int) ([]byte, error) {
	var plain io.ReadCloser
	stored := io.NewSectionReader(p.f, int64(p.offsets[strip]), int64(p.counts[strip]))
	switch p.compression {
	case tiffLZW:
		plain = lzw.NewReader(stored, lzw.MSB, 8)
	default:
		var err error
		if plain, err = zlib.NewReader(stored); err != nil {
			return nil, err
		}
	}
	defer plain.Close()
	// Nothing is allocated for what is not there: a small file may promise much.
	var b bytes.Buffer
	want := p.stripBytes(strip)
	if n, err := io.CopyN(&b, plain, want); err != nil {
		return nil, fmt.Errorf("expected %d bytes, found %d: %w", want, n, noEOF(err))
	}
	if p.differences {
		p.addUp(b.Bytes())
	}
	return b.Bytes(), nil
}

// addUp undoes the predictor: TIFF 6.0, section 14.
func (p *tiffPage) addUp(b []byte) {
	size, row := p.grid.Type.Size(), int(p.rowBytes())
	for start := 0; start < len(b); start += row {
		for i := start + p.grid.VoxelBytes(); i < start+row; i += size {
			value, left := b[i:i+size], b[i-p.grid.VoxelBytes():][:size]
			switch size {
			case 1:
				value[0] += left[0]
			case 2:
				p.order.PutUint16(value, p.order.Uint16(value)+p.order.Uint16(left))
			case 4:
				p.order.PutUint32(value, p.order.Uint32(value)+p.order.Uint32(left))
			default:
				p.order.PutUint64(value, p.order.Uint64(value)+p.order.Uint64(left))
			}
		}
	}
}

// stripCache keeps the strips that were used last.
type stripCache struct {
	mu    sync.Mutex
	strip map[stripKey]*list.Element
	used  list.List // of *keptStrip, the last used first
	bytes int64
}

type stripKey struct {
	page  *tiffPage
	strip int
}

// keptStrip is a strip that one goroutine expands, and others wait for.
type keptStrip struct {
	key   stripKey
	once  sync.Once
	bytes []byte
	err   error
}

func (c *stripCache) get(page *tiffPage, strip int) ([]byte, error) {
	k := c.find(stripKey{page, strip})
	k.once.Do(func() { k.bytes, k.err = page.expand(strip) })
	return k.bytes, k.err
}

// find returns the strip, and forgets others when it is new.
func (c *stripCache) find(key stripKey) *keptStrip {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.strip[key]; ok {
		c.used.MoveToFront(e)
		return e.Value.(*keptStrip)
	}
	if c.strip == nil {
		c.strip = map[stripKey]*list.Element{}
	}
	k := &keptStrip{key: key}
	c.strip[key] = c.used.PushFront(k)
	c.bytes += key.page.stripBytes(key.strip)
	for c.bytes > keptStrips && c.used.Len() > 1 {
		last := c.used.Remove(c.used.Back()).(*keptStrip)
		delete(c.strip, last.key)
		c.bytes -= last.key.page.stripBytes(last.key.strip)
	}
	return k
}

// setPages makes the pages the voxels of the input.
func (in *Input) setPages(pages []*tiffPage) error {
	first := pages[0]
	for i, p := range pages {
		if p.grid != first.grid || p.order != first.order {
			return p.bad(fmt.Sprintf("page %d", i), 0,
				fmt.Sprintf("%v × %d × %v in %v, as in page 0", first.grid.Size, first.grid.Channels, first.grid.Type, first.order),
				fmt.Sprintf("%v × %d × %v in %v", p.grid.Size, p.grid.Channels, p.grid.Type, p.order))
		}
	}
	in.Grid.Type, in.Grid.Channels = first.grid.Type, first.grid.Channels
	in.Grid.Size = volume.Vec{first.grid.Size[0], first.grid.Size[1], len(pages)}
	in.bigEndian = first.order == byteOrder(true)
	in.data = &tiffPlanes{pages: pages}
	return in.validate(first.f.Name())
}
