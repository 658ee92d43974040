package pyramid

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// writes records the ends of writes to a file.
type writes struct {
	*os.File
	ends []int64
}

func (w *writes) WriteAt(b []byte, offset int64) (int, error) {
	w.ends = append(w.ends, offset+int64(len(b)))
	return w.File.WriteAt(b, offset)
}

// TestWriteAt: pieces end at multiples of writeBytes.
func TestWriteAt(t *testing.T) {
	const n = writeBytes
	for _, test := range []struct {
		offset, length int64
		ends           []int64
	}{
		{0, 0, nil},
		{16, 1, []int64{17}},
		{16, n - 16, []int64{n}},
		{16, n - 15, []int64{n, n + 1}},
		{n, n, []int64{2 * n}},
		{n - 1, n + 2, []int64{n, 2 * n, 2*n + 1}},
	} {
		t.Run(fmt.Sprintf("%d bytes at %d", test.length, test.offset), func(t *testing.T) {
			f, err := os.Create(filepath.Join(t.TempDir(), "f"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			want := make([]byte, test.length)
			for i := range want {
				want[i] = byte(i*7 + i>>10)
			}
			w := &writes{File: f}
			if err := writeAt(w, want, test.offset); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(w.ends, test.ends) {
				t.Errorf("writes end at %d, want %d", w.ends, test.ends)
			}
			if got, err := os.ReadFile(f.Name()); err != nil ||
				test.length > 0 && !bytes.Equal(got[test.offset:], want) {
				t.Errorf("%v, or other bytes", err)
			}
		})
	}
}

// TestWriteAtFails: an error ends the write.
func TestWriteAtFails(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := &writes{File: f}
	if err := writeAt(w, make([]byte, 2*writeBytes), 0); err == nil || len(w.ends) != 1 {
		t.Errorf("%v after %d writes", err, len(w.ends))
	}
}
