package codec

import (
	"encoding/binary"
	"fmt"
	"io"
)

// addSum adds the bytes that were decoded to the checksum.
func (d *Inflater) addSum() {
	d.sum.Write(d.out[d.summed:d.o]) // never fails
	d.size += uint32(d.o - d.summed)
	d.summed = d.o
}

// Start reads the header of the first stream, and returns what is wrong with it. It may be called before the first
// Read.
func (d *Inflater) Start() error {
	if d.started {
		return d.err
	}
	if d.err = d.member(); d.err != nil {
		return d.err
	}
	return nil
}

// member reads the header of a stream. After the last one, it returns io.EOF.
func (d *Inflater) member() error {
	if err := d.fill(1); err != nil {
		return err
	}
	if d.started && (d.framing == ZlibFraming || d.ended() && d.s.at == len(d.s.src)) {
		return io.EOF
	}
	read := d.gzipHeader
	if d.framing == ZlibFraming {
		read = d.zlibHeader
	}
	if err := read(); err != nil {
		return err
	}
	d.sum.Reset()
	d.size, d.known, d.started, d.phase = 0, true, true, atBlock
	return nil
}

func (d *Inflater) zlibHeader() error {
	at := d.Offset()
	b, err := d.bytes(2)
	if err != nil {
		return err
	}
	if b[0]&15 != 8 || b[0]>>4 > 7 || binary.BigEndian.Uint16(b)%31 != 0 || b[1]&0x20 != 0 {
		return &InflateError{at, "a header of zlib without a dictionary", fmt.Sprintf("%x", b)}
	}
	return nil
}

func (d *Inflater) gzipHeader() error {
	at := d.Offset()
	b, err := d.bytes(10)
	if err != nil {
		return err
	}
	if b[0] != 0x1f || b[1] != 0x8b || b[2] != 8 {
		return &InflateError{at, "a header of gzip", fmt.Sprintf("%x", b[:3])}
	}
	flags := b[3]
	if flags&gzipExtra != 0 {
		if b, err = d.bytes(2); err != nil {
			return err
		}
		for n := int(binary.LittleEndian.Uint16(b)); n > 0; n-- {
			if _, err := d.bytes(1); err != nil {
				return err
			}
		}
	}
	for _, flag := range []byte{gzipName, gzipComment} {
		for flags&flag != 0 {
			if b, err = d.bytes(1); err != nil {
				return err
			}
			if b[0] == 0 {
				break
			}
		}
	}
	if flags&gzipHeaderSum != 0 {
		_, err = d.bytes(2)
	}
	return err
}

// trailer verifies the checksum of a stream, and the length that gzip adds.
func (d *Inflater) trailer() error {
	d.addSum()
	at := (d.bit() + 7) / 8
	n := 8
	if d.framing == ZlibFraming {
		n = 4
	}
	b, err := d.bytes(n)
	if err != nil {
		return err
	}
	d.phase = atMember
	if !d.known {
		return nil
	}
	stored, size := binary.LittleEndian.Uint32(b), d.size
	if d.framing == ZlibFraming {
		stored = binary.BigEndian.Uint32(b)
	} else {
		size = binary.LittleEndian.Uint32(b[4:])
	}
	if sum := d.sum.Sum32(); sum != stored {
		return &InflateError{at, fmt.Sprintf("the checksum %08x of the plain bytes", sum), fmt.Sprintf("%08x", stored)}
	}
	if size != d.size {
		return &InflateError{at + 4, fmt.Sprintf("a length of %d bytes modulo 2^32", d.size), fmt.Sprint(size)}
	}
	return nil
}

// InflateError is the error of stored bytes that are not what an encoder has written.
type InflateError struct {
	Offset          int64 // in the file
	Expected, Found string
}

func (e *InflateError) Error() string {
	return fmt.Sprintf("byte %d: expected %s, found %s", e.Offset, e.Expected, e.Found)
}
