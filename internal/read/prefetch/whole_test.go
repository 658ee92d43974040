package prefetch

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestWholeRead: a read of all of a small array that is read once decodes its blocks without a portion, and keeps no
// memory.
func TestWholeRead(t *testing.T) {
	box := volume.Box{Min: volume.Vec{70, 33, 3}, Max: volume.Vec{150, 120, 19}}
	const blocks = 2 * 2 * 3
	readAll := func(t *testing.T, s *scene, r *Reader) []byte {
		p := make([]byte, r.array.Size()+10)
		n, err := r.ReadAt(t.Context(), p, 0)
		if int64(n) != r.array.Size() || err != io.EOF {
			t.Fatal(n, err)
		}
		return p[:n]
	}
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		r := s.open(box, HintOnce)
		defer r.Close()
		whole := readAll(t, s, r)
		s.expectLoads(blocks)
		s.expectState(r, random)
		s.expectFree(true)

		s.read(r, 0, r.array.Size()) // compares the bytes
		s.expectState(r, sequential)
		again := readAll(t, s, r)
		s.loads.Store(0)
		if !bytes.Equal(again, whole) {
			t.Error("the read of all has other bytes")
		}
	})
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		s.damaged = volume.Vec{2, 1, 1}
		r := s.open(box, HintOnce)
		defer r.Close()
		if n, err := r.ReadAt(t.Context(), make([]byte, r.array.Size()), 0); n != 0 || !errors.Is(err, errDamaged) {
			t.Error(n, err)
		}
		s.loads.Store(0)
	})
}
