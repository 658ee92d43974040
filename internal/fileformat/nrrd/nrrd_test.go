package nrrd

import (
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

func TestTypes(t *testing.T) {
	for _, want := range volume.Types() {
		for _, name := range []string{TypeName(want), strings.ToUpper(TypeName(want))} {
			if got, ok := ParseType(name); got != want || !ok {
				t.Errorf("%q: got %v, %v, expected %v", name, got, ok, want)
			}
		}
	}
	for _, name := range []string{"", "block", "float32", "uint24", "long"} {
		if got, ok := ParseType(name); ok {
			t.Errorf("%q: got %v", name, got)
		}
	}
}
