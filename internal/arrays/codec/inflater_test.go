package codec

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
)

// framed is a compressed file and its plain bytes.
type framed struct {
	stored, plain []byte
	framing       Framing
}

// framedFiles returns files of all levels and of several members.
func framedFiles(t testing.TB, datas ...[]byte) (all []framed) {
	for level := gzip.StatelessCompression; level <= gzip.BestCompression; level++ {
		for _, data := range datas {
			var g, z bytes.Buffer
			w, err := gzip.NewWriterLevel(&g, level)
			if err != nil {
				t.Fatal(err)
			}
			half := len(data) / 3
			w.Name, w.Comment, w.Extra = "name", "a comment", bytes.Repeat([]byte("extra"), 100)
			_, failed := w.Write(data[:half])
			err = errors.Join(failed, w.Close())
			w.Reset(&g)
			_, failed = w.Write(data[half:])
			if err = errors.Join(err, failed, w.Close()); err != nil {
				t.Fatal(err)
			}
			v, err := zlib.NewWriterLevel(&z, max(level, zlib.HuffmanOnly))
			if err != nil {
				t.Fatal(err)
			}
			_, failed = v.Write(data)
			if err = errors.Join(failed, v.Close()); err != nil {
				t.Fatal(err)
			}
			all = append(all, framed{g.Bytes(), data, GzipFraming}, framed{z.Bytes(), data, ZlibFraming})
		}
	}
	return all
}

func inflaterData() [][]byte {
	return [][]byte{
		nil, {7}, texture(300), texture(100_000), noise(200_000), skewed(300_000), make([]byte, 400_000),
		bytes.Repeat([]byte("abc"), 100_000), bytes.Repeat(noise(31_000), 4),
	}
}

// inflaterOf returns a decoder of a file behind some other bytes, which has little room.
func inflaterOf(f framed, room int) *Inflater {
	const before = 5
	d := NewInflater(bytes.NewReader(append(make([]byte, before), f.stored...)), before, int64(before+len(f.stored)),
		f.framing)
	d.out = d.out[:Window+fastOut+room]
	return d
}

// inflated reads all from a decoder.
func inflated(d *Inflater) ([]byte, error) {
	defer d.Close()
	return io.ReadAll(d)
}

// TestInflater decodes files of gzip and zlib at once and in pieces.
func TestInflater(t *testing.T) {
	for i, f := range framedFiles(t, inflaterData()...) {
		for _, room := range []int{1, 1000, inflaterOut} {
			got, err := inflated(inflaterOf(f, room))
			if err != nil || !bytes.Equal(got, f.plain) {
				t.Fatalf("file %d, %d bytes at a time: got %d bytes, %v, want %d", i, room, len(got), err, len(f.plain))
			}
		}
	}
}

// TestInflaterRestarts stops where it is possible, and goes on there with another decoder.
func TestInflaterRestarts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	stops := map[phase]int{}
	for i, f := range framedFiles(t, inflaterData()...) {
		d := inflaterOf(f, 3000)
		at := 0
		for buf := make([]byte, 4000); ; {
			n, err := d.Read(buf)
			if at += n; err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("file %d: %v", i, err)
			}
			p, ok := d.Restart()
			if !ok || r.IntN(10) > 0 {
				continue
			}
			stops[phase(p.Phase)]++
			e, err := p.Resume(d.in, d.end, f.framing, f.plain[at-int(p.History):at])
			if err != nil {
				t.Fatalf("file %d, from %d: %v", i, at, err)
			}
			e.out = e.out[:Window+fastOut+3000]
			got, err := inflated(e)
			if err != nil || !bytes.Equal(got, f.plain[at:]) {
				t.Fatalf("file %d, from %d, %+v: got %d bytes, %v, want %d", i, at, p, len(got), err, len(f.plain)-at)
			}
		}
	}
	if stops[inCodes] < 50 || stops[inStored] < 20 {
		t.Errorf("too few stops: %v", stops)
	}
}

// TestInflaterFaults: a file that is cut, or has another byte, is an error, or has the right bytes.
func TestInflaterFaults(t *testing.T) {
	for i, f := range framedFiles(t, texture(300), noise(50), skewed(2000)) {
		for at := range f.stored {
			cut := framed{stored: f.stored[:at], framing: f.framing}
			first := f.framing == GzipFraming && bytes.HasPrefix(f.stored[at:], []byte{0x1f, 0x8b, 8}) && at > 0
			if got, err := inflated(inflaterOf(cut, 100)); (err == nil) != first || !bytes.HasPrefix(f.plain, got) {
				t.Errorf("file %d with %d of %d bytes: got %d bytes, %v", i, at, len(f.stored), len(got), err)
			}
			for _, flip := range []byte{1, 0x80} {
				other := framed{stored: bytes.Clone(f.stored), framing: f.framing}
				other.stored[at] ^= flip
				// Adler-32 is weak
				if got, err := inflated(inflaterOf(other, 100)); err == nil && !bytes.Equal(got, f.plain) &&
					f.framing == GzipFraming {
					t.Errorf("file %d with another byte at %d: got other bytes", i, at)
				}
			}
		}
	}
	wrong := framedFiles(t, texture(300))[0]
	wrong.stored[len(wrong.stored)-5] ^= 1
	if _, err := inflated(inflaterOf(wrong, 100)); !errors.As(err, new(*InflateError)) {
		t.Errorf("a wrong checksum: got %v", err)
	}
}

// TestResumeErrors: a place that no decoder has returned is an error.
func TestResumeErrors(t *testing.T) {
	f := framedFiles(t, texture(3000))[4]
	in, end := bytes.NewReader(f.stored), int64(len(f.stored))
	for i, r := range []Restart{
		{History: Window + 1}, {Phase: 4}, {Phase: 200}, {Rest: 1 << 16}, {Bit: -1}, {Table: -1}, {History: 3},
		{Phase: uint8(inCodes), Table: 1 << 40},
		{Phase: uint8(inCodes), Table: 8},
	} {
		d, err := r.Resume(in, end, f.framing, nil)
		if err == nil {
			_, err = inflated(d)
		}
		if err == nil {
			t.Errorf("%d: %+v: no error", i, r)
		}
	}
}

// FuzzInflater compares with the library.
func FuzzInflater(f *testing.F) {
	for _, file := range framedFiles(f, texture(300), skewed(2000)) {
		f.Add(file.stored, file.framing == GzipFraming)
	}
	f.Fuzz(func(t *testing.T, stored []byte, isGzip bool) {
		file := framed{stored: stored, framing: ZlibFraming}
		var want io.Reader
		var err error
		if isGzip {
			file.framing = GzipFraming
			want, err = gzip.NewReader(bytes.NewReader(stored))
		} else {
			want, err = zlib.NewReader(bytes.NewReader(stored))
		}
		var plain []byte
		if err == nil {
			plain, err = io.ReadAll(io.LimitReader(want, 1<<20))
		}
		d := inflaterOf(file, 500)
		defer d.Close()
		got, failed := io.ReadAll(io.LimitReader(d, 1<<20))
		if (err == nil) != (failed == nil) && len(stored) > 20 && !isGzip {
			t.Fatalf("the library: %v, got %v", err, failed)
		}
		if err == nil && failed == nil && !bytes.Equal(got, plain) {
			t.Fatalf("got %d other bytes, want %d", len(got), len(plain))
		}
	})
}
