package arrayfile

import (
	"fmt"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestGuessRaw: sizes and types of a file without a header have just its bytes.
func TestGuessRaw(t *testing.T) {
	flat := volume.Vec{4, 4, 2}
	for _, c := range []struct {
		bytes    int64
		size     *volume.Vec
		types    []volume.Type
		channels int
		want     string
	}{
		{64, nil, nil, 1, "[{4,4,4 [uint8 int8]} {2,2,2 [uint64 int64 float64]}]"},
		{64, nil, []volume.Type{volume.Uint8}, 1, "[{4,4,4 [uint8]}]"},
		{64, &flat, nil, 1, "[{4,4,2 [uint16 int16]}]"},
		{64, &flat, nil, 2, "[{4,4,2 [uint8 int8]}]"},
		{65, nil, nil, 1, "[]"},
		{0, nil, nil, 1, "[]"},
	} {
		if got := fmt.Sprint(GuessRaw(c.bytes, c.size, c.types, c.channels)); got != c.want {
			t.Errorf("%d bytes, %v, %v, %d channels: got %s, expected %s", c.bytes, c.size, c.types, c.channels, got,
				c.want)
		}
	}
}
