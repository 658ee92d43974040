// Package xdr encodes and decodes the types of XDR (RFC 4506) that NFS uses.
//
// All integers are big-endian, and every value takes a multiple of 4 bytes. Section numbers refer to RFC 4506.
package xdr

import (
	"encoding/binary"
	"fmt"
)

// Decoder reads values from a message. After the first error all reads return zero values. It copies nothing: what it
// returns has the memory of the message.
type Decoder struct {
	message []byte
	off     int // of the next value
	err     error
}

// NewDecoder returns a decoder of a message.
func NewDecoder(message []byte) *Decoder { return &Decoder{message: message} }

// Err returns the first error, with the byte offset in the message.
func (d *Decoder) Err() error { return d.err }

// Rest returns the bytes that are not read.
func (d *Decoder) Rest() []byte { return d.message[d.off:] }

// take returns the next n bytes, or nil if the message is shorter.
func (d *Decoder) take(n int) []byte {
	if left := len(d.message) - d.off; d.err == nil && left < n {
		d.err = fmt.Errorf("byte %d: expected %d more bytes, found %d", d.off, n, left)
	}
	if d.err != nil {
		return nil
	}
	d.off += n
	return d.message[d.off-n : d.off]
}

// Uint32 reads an unsigned integer (4.2).
func (d *Decoder) Uint32() uint32 {
	if b := d.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// Uint64 reads an unsigned hyper integer (4.5).
func (d *Decoder) Uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Opaque reads data of variable length, at most limit bytes (4.10).
func (d *Decoder) Opaque(limit int) []byte {
	at := d.off
	n := d.Uint32()
	if d.err == nil && uint64(n) > uint64(limit) {
		d.err = fmt.Errorf("byte %d: expected at most %d bytes, found a length of %d", at, limit, n)
	}
	if d.err != nil {
		return nil
	}
	padded := d.take(int(n) + padding(int(n)))
	if padded == nil {
		return nil
	}
	return padded[:n:n]
}

// String reads a string of at most limit bytes (4.11).
func (d *Decoder) String(limit int) string { return string(d.Opaque(limit)) }

// Encoder appends values to a message.
type Encoder struct{ message []byte }

// NewEncoder returns an encoder that appends to message.
func NewEncoder(message []byte) *Encoder { return &Encoder{message} }

// Bytes returns the message.
func (e *Encoder) Bytes() []byte { return e.message }

// Len returns the length of the message in bytes.
func (e *Encoder) Len() int { return len(e.message) }

// Truncate shortens the message to n bytes.
func (e *Encoder) Truncate(n int) { e.message = e.message[:n] }

// Uint32 appends unsigned integers (4.2).
func (e *Encoder) Uint32(values ...uint32) {
	for _, v := range values {
		e.message = binary.BigEndian.AppendUint32(e.message, v)
	}
}

// Uint64 appends unsigned hyper integers (4.5).
func (e *Encoder) Uint64(values ...uint64) {
	for _, v := range values {
		e.message = binary.BigEndian.AppendUint64(e.message, v)
	}
}

// Bool appends a boolean (4.4).
func (e *Encoder) Bool(v bool) {
	if v {
		e.Uint32(1)
		return
	}
	e.Uint32(0)
}

// Opaque appends data of variable length (4.10).
func (e *Encoder) Opaque(p []byte) {
	e.Uint32(uint32(len(p)))
	e.message = append(append(e.message, p...), Padding(len(p))...)
}

// String appends a string (4.11).
func (e *Encoder) String(s string) { e.Opaque([]byte(s)) }

// OpaqueSize returns the size of encoded data of n bytes.
func OpaqueSize(n int) int { return 4 + n + padding(n) }

// padding returns the number of zero bytes that follow n bytes.
func padding(n int) int { return -n & 3 }

var zeros [3]byte

// Padding returns the zero bytes that follow n bytes of data.
func Padding(n int) []byte { return zeros[:padding(n)] }
