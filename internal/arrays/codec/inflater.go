package codec

import (
	"errors"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"io"
	"sync"
)

// Framing is what is around the streams of DEFLATE in a file.
type Framing int

// Values of Framing: members of RFC 1952, one or more; or one stream of RFC 1950.
const (
	GzipFraming Framing = iota
	ZlibFraming
)

// Window is how many bytes before a position the bytes after it may copy from.
const Window = 32 << 10

const (
	inflaterIn     = 256 << 10 // stored bytes in memory
	inflaterOut    = 128 << 10 // bytes that are decoded at a time
	inflaterHeader = 1 << 10   // the most that the header of a block has is 563 bytes
)

// phase is what an Inflater reads next.
type phase uint8

const (
	atMember  phase = iota // a header of gzip or zlib, or the end
	atBlock                // the header of a block
	inCodes                // codes of a block
	inStored               // bytes of a block that is not compressed
	atTrailer              // the checksum
)

// Restart is where an Inflater has stopped, and another one can go on, which has the History bytes before. It has only
// numbers, so that a program can keep it in a file.
type Restart struct {
	Bit     int64  // in the file, of what is read next; the lowest bit of a byte comes first
	Table   int64  // the first bit of the block, if it has codes
	Rest    uint32 // bytes that the block still has, if it is not compressed
	History uint32 // bytes before this one that those after it may copy from; at most Window
	Phase   uint8
	Last    bool // the block is the last one of its stream
}

// Inflater is an io.Reader of the plain bytes of a file, or of a part of it, that is compressed by gzip or zlib. It
// reads the file piece by piece, and can stop and go on anywhere. Checksum and length of each stream are verified whose
// start it has read. It is not safe for concurrent use.
type Inflater struct {
	s   inflateState
	buf []byte // has s.src
	in  io.ReaderAt
	at  int64 // of s.src[0], in the file
	end int64 // of the stored bytes, in the file

	framing Framing
	phase   phase
	started bool // a member was read
	last    bool
	table   int64
	rest    int

	out    []byte
	r, o   int // out[r:o] was decoded, and not read; bytes before r are those that others may copy
	sum    hash.Hash32
	summed int    // bytes of out that are in sum
	size   uint32 // of the member, modulo 2^32
	known  bool   // sum has all bytes of the member
	err    error
}

var inflaters = sync.Pool{New: func() any {
	return &Inflater{buf: make([]byte, inflaterIn), out: make([]byte, Window+inflaterOut+fastOut)}
}}

// NewInflater returns an Inflater for the bytes of a file from offset up to end. Close must be called.
func NewInflater(in io.ReaderAt, offset, end int64, f Framing) *Inflater {
	d := inflaters.Get().(*Inflater)
	d.in, d.at, d.end, d.framing = in, offset, end, f
	d.s.src, d.s.at, d.s.b, d.s.n = d.buf[:0], 0, 0, 0
	d.phase, d.started, d.last, d.table, d.rest = atMember, false, false, 0, 0
	d.r, d.o, d.summed, d.known, d.err = 0, 0, 0, false, nil
	if d.sum = crc32.NewIEEE(); f == ZlibFraming {
		d.sum = adler32.New()
	}
	return d
}

// Resume returns an Inflater that goes on where another one has stopped. history has the plain bytes before.
func (r Restart) Resume(in io.ReaderAt, end int64, f Framing, history []byte) (*Inflater, error) {
	if len(history) != int(r.History) || r.History > Window || r.Phase >= uint8(atTrailer) || r.Rest > 1<<16-1 ||
		r.Bit < 0 || r.Table < 0 {
		return nil, errors.New("invalid place to start from")
	}
	d := NewInflater(in, 0, end, f)
	if err := d.resume(r, history); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Inflater) resume(r Restart, history []byte) error {
	d.started = true
	if d.phase = phase(r.Phase); d.phase == inCodes {
		if err := d.seek(r.Table); err != nil {
			return err
		}
		d.phase = atBlock
		if err := d.header(); err != nil {
			return err
		}
		if d.phase != inCodes {
			return errors.New("expected a compressed block to start from")
		}
	}
	d.last, d.rest = r.Last, int(r.Rest)
	d.o = copy(d.out, history)
	d.r, d.summed = d.o, d.o
	return d.seek(r.Bit)
}

// Restart returns where decoding can go on behind the bytes that were read. It returns false if that is not known here:
// bytes that were decoded are not read yet, or the stream has ended.
func (d *Inflater) Restart() (r Restart, ok bool) {
	if d.r != d.o || d.err != nil || d.phase == atTrailer || d.phase == atMember && d.framing == ZlibFraming {
		return r, false
	}
	r = Restart{Bit: d.bit(), History: uint32(min(d.o, Window)), Phase: uint8(d.phase), Last: d.last}
	switch d.phase {
	case inCodes:
		r.Table = d.table
	case inStored:
		r.Rest = uint32(d.rest)
	case atMember:
		r.History = 0
	}
	return r, true
}

// Close ends the use of the Inflater.
func (d *Inflater) Close() {
	d.in, d.s.src, d.out = nil, nil, d.out[:cap(d.out)]
	inflaters.Put(d)
}

// Offset returns the offset in the file of the byte that is read next.
func (d *Inflater) Offset() int64 { return d.bit() / 8 }

func (d *Inflater) bit() int64 { return 8*(d.at+int64(d.s.at)) - int64(d.s.n) }

// Read implements io.Reader.
func (d *Inflater) Read(p []byte) (int, error) {
	for d.r == d.o {
		if d.err != nil {
			return 0, d.err
		}
		d.err = d.decode()
	}
	n := copy(p, d.out[d.r:d.o])
	d.r += n
	return n, nil
}

// decode decodes what there is room for, when everything before was read.
func (d *Inflater) decode() error {
	if d.o > Window {
		copy(d.out, d.out[d.o-Window:d.o])
		d.o = Window
	}
	d.r, d.summed = d.o, d.o
	defer d.addSum()
	for len(d.out)-d.o >= fastOut {
		var err error
		switch d.phase {
		case atMember:
			if d.o > d.r {
				return nil // what follows cannot copy from it
			}
			d.r, d.o, d.summed = 0, 0, 0
			err = d.member()
		case atBlock:
			err = d.header()
		case inCodes:
			err = d.codes()
		case inStored:
			err = d.stored()
		case atTrailer:
			err = d.trailer()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fill reads until there are n stored bytes, or all.
func (d *Inflater) fill(n int) error {
	s := &d.s
	if len(s.src)-s.at >= n || d.ended() {
		return nil
	}
	keep := max(0, s.at-8) // bytes whose bits are not used yet
	m := copy(d.buf, s.src[keep:])
	d.at, s.at = d.at+int64(keep), s.at-keep
	more := int(min(int64(len(d.buf)-m), d.end-d.at-int64(m)))
	got, err := d.in.ReadAt(d.buf[m:m+more], d.at+int64(m))
	s.src = d.buf[:m+got]
	if got < more {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return nil
}

// ended reports whether all stored bytes are in memory.
func (d *Inflater) ended() bool { return d.at+int64(len(d.s.src)) >= d.end }

// seek goes to a bit.
func (d *Inflater) seek(bit int64) error {
	d.at = bit / 8
	d.s.src, d.s.at, d.s.b, d.s.n = d.buf[:0], 0, 0, 0
	if err := d.fill(1); err != nil {
		return err
	}
	if _, ok := d.s.take(int(bit % 8)); !ok {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// fault is the error of what cannot be decoded: the stream ends, or has a fault.
func (d *Inflater) fault(part string) error {
	if d.ended() && d.s.at == len(d.s.src) {
		return io.ErrUnexpectedEOF
	}
	return &InflateError{d.Offset(), "a valid " + part + " of DEFLATE", "another one"}
}

// bytes returns the next n stored bytes, from the next whole one on.
func (d *Inflater) bytes(n int) ([]byte, error) {
	s := &d.s
	s.at -= s.n / 8
	s.b, s.n = 0, 0
	if err := d.fill(n); err != nil {
		return nil, err
	}
	if len(s.src)-s.at < n {
		return nil, io.ErrUnexpectedEOF
	}
	b := s.src[s.at:][:n]
	s.at += n
	return b, nil
}

// header reads the header of a block.
func (d *Inflater) header() error {
	if err := d.fill(inflaterHeader); err != nil {
		return err
	}
	d.table = d.bit()
	bits, ok := d.s.take(3)
	if !ok {
		return d.fault("block")
	}
	d.last = bits&1 != 0
	switch bits >> 1 {
	case 0:
		b, err := d.bytes(4)
		if err != nil {
			return err
		}
		n := int(b[0]) | int(b[1])<<8
		if n != 0xffff&^(int(b[2])|int(b[3])<<8) {
			return d.fault("length of a stored block")
		}
		d.phase, d.rest = inStored, n
	case 1:
		d.s.fixed()
		d.phase = inCodes
	case 2:
		if !d.s.dynamic() {
			return d.fault("table")
		}
		d.phase = inCodes
	default:
		return d.fault("block")
	}
	return nil
}

// blockEnds goes on after a block.
func (d *Inflater) blockEnds() {
	if d.phase = atBlock; d.last {
		d.phase = atTrailer
	}
}

// codes decodes codes while there is room.
func (d *Inflater) codes() error {
	for len(d.out)-d.o >= fastOut {
		if err := d.fill(4 * fastIn); err != nil {
			return err
		}
		o, end, ok := d.s.fast(d.out, d.o)
		if ok && !end && len(d.out)-o >= fastOut && d.ended() { // fast stops before the end of the stored bytes
			o, end, ok = d.s.careful(d.out, o)
		}
		if !ok {
			return d.fault("code")
		}
		if d.o = o; end {
			d.blockEnds()
			return nil
		}
	}
	return nil
}

// stored copies what there is room for.
func (d *Inflater) stored() error {
	s := &d.s
	for d.rest > 0 {
		n := min(d.rest, len(d.out)-d.o)
		if n == 0 {
			return nil
		}
		if err := d.fill(1); err != nil {
			return err
		}
		if n = min(n, len(s.src)-s.at); n == 0 {
			return io.ErrUnexpectedEOF
		}
		copy(d.out[d.o:], s.src[s.at:][:n])
		d.o, s.at, d.rest = d.o+n, s.at+n, d.rest-n
	}
	d.blockEnds()
	return nil
}
