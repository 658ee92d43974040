package check

import (
	"errors"
	"path"

	"github.com/wkwfs/wkwfs/volume"
)

// Unshown finds the layers and mags that exist and that a mount or a copy of the source leaves out: those with a file
// of another kind in their place, and mags without a geometry. It reads no voxels. All findings are errors.
func Unshown(root volume.Root) []Finding {
	var found []Finding
	for at, omitted := range omissions(root) {
		if omitted.Fault {
			found = append(found, Finding{Severity: Error, Place: at, Err: errors.New(omitted.Reason)})
		}
	}
	for m, err := range mags(root) {
		if err == nil {
			_, err = m.CubeGrid()
		}
		if err != nil {
			found = append(found, Finding{Severity: Error, Place: m.Place, Err: err})
		}
	}
	return found
}

// Within reports whether the place is dir, or below it. Both are paths in the source.
func (p Place) Within(dir string) bool {
	for at := p.Path; ; at = path.Dir(at) {
		switch at {
		case dir:
			return true
		case ".":
			return false
		}
	}
}
