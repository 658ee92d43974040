package cache

import (
	"context"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// announced is an array that passes announcements on. Then it panics.
type announced struct {
	*array
	boxes chan volume.Box
}

func (a announced) Announce(_ context.Context, box volume.Box) {
	a.boxes <- box
	panic("ouch")
}

// TestAnnounce: a source gets announcements in the background, and may panic. A source that is no Announcer gets none,
// and so does every source of a closed cache.
func TestAnnounce(t *testing.T) {
	a := announced{newArray(3, volume.Cube(2), 64), make(chan volume.Box)}
	c := New(1 << 20)
	box := volume.Box{Max: volume.Cube(2)}
	c.Source(a.array).Announce(t.Context(), box)
	src := c.Source(a)
	src.Announce(t.Context(), volume.Box{}) // no block
	src.Announce(t.Context(), box)
	if got := <-a.boxes; got != box {
		t.Errorf("announced %v, expected %v", got, box)
	}
	c.Close()
	src.Announce(t.Context(), box)
	select {
	case got := <-a.boxes:
		t.Errorf("%v is announced after Close", got)
	default:
	}
}
