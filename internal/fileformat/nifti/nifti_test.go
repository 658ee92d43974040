package nifti

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

func TestDatatypes(t *testing.T) {
	for _, want := range volume.Types() {
		if got, ok := ParseDatatype(Datatype(want)); got != want || !ok {
			t.Errorf("%d: got %v, %v, expected %v", Datatype(want), got, ok, want)
		}
	}
	for _, code := range []uint16{0, 1, RGB24, 1536, 2304} {
		if got, ok := ParseDatatype(code); ok {
			t.Errorf("%d: got %v", code, got)
		}
	}
}
