package xdr_test

import (
	"bytes"
	"testing"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
)

// TestBytes compares encodings with bytes of RFC 4506.
func TestBytes(t *testing.T) {
	e := xdr.NewEncoder(nil)
	e.Uint32(1, 0xfffffffe)
	e.Uint64(1 << 40)
	e.Bool(true)
	e.Bool(false)
	e.String("sillyprog")
	e.Opaque(nil)
	want := []byte{
		0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe,
		0, 0, 1, 0, 0, 0, 0, 0,
		0, 0, 0, 1, 0, 0, 0, 0,
		0, 0, 0, 9, 's', 'i', 'l', 'l', 'y', 'p', 'r', 'o', 'g', 0, 0, 0,
		0, 0, 0, 0,
	}
	if !bytes.Equal(e.Bytes(), want) || e.Len() != len(want) {
		t.Errorf("got % x", e.Bytes())
	}
	d := xdr.NewDecoder(want)
	if a, b, c := d.Uint32(), d.Uint32(), d.Uint64(); a != 1 || b != 0xfffffffe || c != 1<<40 {
		t.Errorf("got %d, %d, %d", a, b, c)
	}
	if a, b, s, o := d.Uint32(), d.Uint32(), d.String(9), d.Opaque(0); a != 1 || b != 0 || s != "sillyprog" ||
		len(o) != 0 || d.Err() != nil || len(d.Rest()) != 0 {
		t.Errorf("got %d, %d, %q, %q, %v", a, b, s, o, d.Err())
	}
	if e.Truncate(4); !bytes.Equal(e.Bytes(), want[:4]) {
		t.Errorf("truncated: % x", e.Bytes())
	}
}

// TestPadding: data of each length take a multiple of 4 bytes.
func TestPadding(t *testing.T) {
	for n := range 9 {
		e := xdr.NewEncoder(nil)
		e.Opaque(make([]byte, n))
		want := 4 + (n+3)/4*4
		if e.Len() != want || xdr.OpaqueSize(n) != want || n+len(xdr.Padding(n)) != want-4 {
			t.Errorf("%d bytes: got %d, %d, padding %d, expected %d", n, e.Len(), xdr.OpaqueSize(n),
				len(xdr.Padding(n)), want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name    string
		message []byte
		read    func(*xdr.Decoder)
		want    string
	}{
		{"short integer", []byte{1, 2, 3}, func(d *xdr.Decoder) { d.Uint32() },
			"byte 0: expected 4 more bytes, found 3"},
		{"short hyper", make([]byte, 11), func(d *xdr.Decoder) { d.Uint32(); d.Uint64() },
			"byte 4: expected 8 more bytes, found 7"},
		{"too long", []byte{0, 0, 0, 9, 1, 2, 3, 4}, func(d *xdr.Decoder) { d.Opaque(8) },
			"byte 0: expected at most 8 bytes, found a length of 9"},
		{"length of 4 GiB", []byte{0xff, 0xff, 0xff, 0xff}, func(d *xdr.Decoder) { d.Opaque(64) },
			"byte 0: expected at most 64 bytes, found a length of 4294967295"},
		{"short data", []byte{0, 0, 0, 4, 1, 2, 3}, func(d *xdr.Decoder) { d.Opaque(8) },
			"byte 4: expected 4 more bytes, found 3"},
		{"no padding", []byte{0, 0, 0, 1, 1}, func(d *xdr.Decoder) { d.Opaque(8) },
			"byte 4: expected 4 more bytes, found 1"},
		{"the first error counts", []byte{1}, func(d *xdr.Decoder) { d.Uint64(); d.Uint32(); d.Opaque(1) },
			"byte 0: expected 8 more bytes, found 1"},
	} {
		d := xdr.NewDecoder(c.message)
		if c.read(d); d.Err() == nil || d.Err().Error() != c.want {
			t.Errorf("%s: got %v, expected %s", c.name, d.Err(), c.want)
		}
	}
}

// FuzzDecoder: what was decoded is encoded to the same bytes, but for the padding.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte{0, 0, 0, 3, 'a', 'b', 'c', 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, message []byte) {
		d := xdr.NewDecoder(message)
		data, number := d.Opaque(32), d.Uint64()
		if d.Err() != nil {
			if len(data) > 32 || number != 0 {
				t.Fatalf("after an error: %q, %d", data, number)
			}
			return
		}
		e := xdr.NewEncoder(nil)
		e.Opaque(data)
		e.Uint64(number)
		if again := xdr.NewDecoder(e.Bytes()); !bytes.Equal(again.Opaque(32), data) || again.Uint64() != number ||
			e.Len() != len(message)-len(d.Rest()) {
			t.Fatalf("% x became % x", message, e.Bytes())
		}
	})
}
