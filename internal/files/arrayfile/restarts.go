package arrayfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sort"
	"sync"

	"github.com/klauspost/compress/zlib"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
)

// IndexStore keeps indexes of compressed streams for later runs of the program. It is safe for concurrent use.
type IndexStore interface {
	// Open opens the index with a key. It fails if there is none that is complete and undamaged.
	Open(key []byte) (Index, error)
	// Put keeps an index of at most some bytes, which write writes. If it cannot be kept, readers do without.
	Put(key []byte, most int64, write func(io.Writer) error)
	// Remove forgets an index.
	Remove(key []byte)
}

// Index is an open index of an IndexStore.
type Index interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// restartsVersion is the version of the format of an index: the windows before each place, compressed by zlib; a record
// for each place; and a footer. All numbers are little-endian.
const restartsVersion = 1

// record is a place to start from.
type record struct {
	codec.Restart
	Plain  int64  // bytes of the stream before
	At     int64  // of the window in the index
	Length uint32 // of the compressed window
	Sum    uint32 // CRC-32C of the plain bytes up to the next place
}

// footer is at the end of an index.
type footer struct{ Records, Plain int64 }

var (
	recordSize = int64(binary.Size(record{}))
	footerSize = int64(binary.Size(footer{}))
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// maxWindow is more than a compressed window has, in bytes.
const maxWindow = codec.Window + 1<<10

// mark notes a place to start from, before plain byte at, if the last one is far enough away.
func (u *unpacked) mark(at int64) {
	if len(u.points) == 0 {
		u.points = []record{{}}
		return
	}
	if at-u.points[len(u.points)-1].Plain < max(u.restart, u.end/u.restarts) {
		return
	}
	if r, ok := u.stream.place(); ok {
		u.points = append(u.points, record{Restart: r, Plain: at})
	}
}

// count adds bytes that follow the last place to its checksum.
func (u *unpacked) count(b []byte) {
	last := &u.points[len(u.points)-1]
	last.Sum = crc32.Update(last.Sum, castagnoli, b)
}

// save keeps the index, when all plain bytes are in the file. A stream with one place has none.
func (u *unpacked) save() {
	if len(u.points) < 2 || u.indexes == nil || u.unchanged() != nil {
		return
	}
	most := footerSize + int64(len(u.points))*(recordSize+maxWindow)
	u.indexes.Put(u.key(), most, func(w io.Writer) error { return writeRestarts(w, u.points, u.plain.Load(), u.end) })
}

// writeRestarts writes an index. plain has the plain bytes.
func writeRestarts(w io.Writer, points []record, plain io.ReaderAt, end int64) error {
	var all []byte
	at := int64(0)
	for _, p := range points {
		window := make([]byte, p.History)
		if _, err := plain.ReadAt(window, p.Plain-int64(p.History)); err != nil && len(window) > 0 {
			return err
		}
		var packed bytes.Buffer
		z := zlib.NewWriter(&packed)
		_, err := z.Write(window)
		if err = errors.Join(err, z.Close()); err != nil {
			return err
		}
		p.At, p.Length = at, uint32(packed.Len())
		at += int64(p.Length)
		if _, err := w.Write(packed.Bytes()); err != nil {
			return err
		}
		if all, err = binary.Append(all, binary.LittleEndian, p); err != nil {
			return err
		}
	}
	all, err := binary.Append(all, binary.LittleEndian, footer{int64(len(points)), end})
	if err != nil {
		return err
	}
	_, err = w.Write(all)
	return err
}

// errIndex is the error of an index that does not lead to the bytes that a pass has found.
var errIndex = errors.New("the index of the stream is wrong")

// restarts is an index of a stream, and which parts of it were decompressed into a file.
type restarts struct {
	*stream
	file   Index
	plain  *os.File
	points []record

	mu   sync.Mutex
	done []bool                // parts that are in plain
	busy map[int]chan struct{} // parts that somebody decompresses; closed afterwards
}

// readRestarts reads an index of a stream. The parts go into plain.
func readRestarts(file Index, s *stream, plain *os.File) (*restarts, error) {
	var f footer
	at := file.Size() - footerSize
	if err := readAt(file, at, &f); err != nil {
		return nil, err
	}
	if f.Plain != s.end || f.Records < 1 || f.Records > at/recordSize {
		return nil, errIndex
	}
	r := &restarts{stream: s, file: file, plain: plain, points: make([]record, f.Records),
		done: make([]bool, f.Records), busy: map[int]chan struct{}{}}
	at -= f.Records * recordSize
	if err := readAt(file, at, r.points); err != nil {
		return nil, err
	}
	for i, p := range r.points {
		before := record{Plain: -1}
		if i > 0 {
			before = r.points[i-1]
		}
		if p.Plain <= before.Plain || p.Plain >= s.end || p.Bit < before.Bit || int64(p.History) > p.Plain ||
			p.History > codec.Window ||
			p.Length > maxWindow || p.At < 0 || p.At > at-int64(p.Length) || (p.Plain == 0) != (i == 0) {
			return nil, errIndex
		}
	}
	return r, nil
}

// readAt reads numbers at an offset of an index.
func readAt(file Index, at int64, to any) error {
	if at < 0 {
		return errIndex
	}
	return binary.Read(io.NewSectionReader(file, at, int64(binary.Size(to))), binary.LittleEndian, to)
}

// unpack puts the parts that have the bytes from off up to end into the file. It fails with errIndex if the index is
// wrong.
func (r *restarts) unpack(off, end int64) error {
	i := sort.Search(len(r.points), func(i int) bool { return r.points[i].Plain > off }) - 1
	for ; i < len(r.points) && r.points[i].Plain < end; i++ {
		if err := r.part(i); err != nil {
			return err
		}
	}
	return nil
}

// part puts a part into the file, unless it is there. If another reader does it now, part waits for it.
func (r *restarts) part(i int) error {
	for {
		mine, wait := r.begin(i)
		switch {
		case wait != nil:
			<-wait
			continue
		case !mine:
			return nil
		}
		return r.unpackPart(i)
	}
}

// begin returns whether the caller has to decompress a part, or what to wait for.
func (r *restarts) begin(i int) (mine bool, wait chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done[i] {
		return false, nil
	}
	if wait = r.busy[i]; wait == nil {
		r.busy[i] = make(chan struct{})
	}
	return wait == nil, wait
}

// end ends what begin began.
func (r *restarts) end(i int, done bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[i] = done
	close(r.busy[i])
	delete(r.busy, i)
}

// unpackPart decompresses a part into the file.
func (r *restarts) unpackPart(i int) (err error) {
	done := false
	defer func() { r.end(i, done) }()
	p, plain, stored := r.points[i], r.stream.end, r.size
	if i+1 < len(r.points) {
		plain, stored = r.points[i+1].Plain, min(stored, r.points[i+1].Bit/8+1)
	}
	source := &errorKeeper{ReaderAt: r.stream.file}
	d, err := r.resume(p, source, stored)
	if err == nil {
		defer d.Close()
		err = r.copyPart(d, p, plain)
	}
	if source.err != nil { // the index may be right
		return unreadable(r.Name(), "compressed voxels", r.offset, source.err)
	}
	done = err == nil
	return err
}

// resume returns a decoder that starts at a place. stored is the end of what it needs in the file.
func (r *restarts) resume(p record, source io.ReaderAt, stored int64) (*codec.Inflater, error) {
	framing, _ := r.encoding.framing()
	if p.Plain == 0 {
		return codec.NewInflater(source, r.offset, stored, framing), nil
	}
	packed := make([]byte, p.Length)
	if _, err := r.file.ReadAt(packed, p.At); err != nil && len(packed) > 0 {
		return nil, fmt.Errorf("%w: %w", errIndex, err)
	}
	window, err := codec.Zlib{}.Decode(nil, packed, int(p.History))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errIndex, err)
	}
	d, err := p.Resume(source, stored, framing, window)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errIndex, err)
	}
	return d, nil
}

// copyPart decodes the bytes from a place up to end into the file, and checks them.
func (r *restarts) copyPart(d *codec.Inflater, p record, end int64) error {
	b := scratch(unpackPiece)
	defer recycle(b)
	sum := uint32(0)
	for at := p.Plain; at < end; {
		n, err := d.Read(b[:min(unpackPiece, end-at)])
		if err != nil {
			return fmt.Errorf("%w: after plain byte %d: %w", errIndex, at, noEOF(err))
		}
		if _, err := r.plain.WriteAt(b[:n], at); err != nil {
			return fmt.Errorf("%s: unpacking it: %w", r.Name(), err)
		}
		sum = crc32.Update(sum, castagnoli, b[:n])
		at += int64(n)
	}
	if sum != p.Sum {
		return fmt.Errorf("%w: bytes %d to %d have another checksum", errIndex, p.Plain, end)
	}
	return nil
}
