package mosaic

import (
	"context"
	"errors"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestLeavingWhileOpeningFails: a reader that leaves while a cube cannot be opened leaves nothing that could be closed.
func TestLeavingWhileOpeningFails(t *testing.T) {
	for range 50 {
		ctx, leave := context.WithCancel(t.Context())
		m, err := New(oneCube{open: func() (volume.CubeFile, error) {
			leave()
			return nil, errors.New("cannot be opened")
		}}, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := volume.ReadBlock(ctx, m, volume.Vec{}); err == nil {
			t.Fatal("no error")
		}
		m.CloseIdle()
		if len(m.tiles) != 0 || m.idle.Len() != 0 {
			t.Fatalf("%d tiles, %d of them idle", len(m.tiles), m.idle.Len())
		}
	}
}
