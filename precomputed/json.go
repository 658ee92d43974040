package precomputed

import (
	"errors"
	"fmt"

	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

type (
	object  = jsonlimit.Object
	integer = jsonlimit.Integer
)

// maxInteger is the largest integer of an info file.
const maxInteger = jsonlimit.MaxInteger

// triple is a list of three integers: x, y, z.
type triple volume.Vec

func (v *triple) UnmarshalJSON(b []byte) error {
	list, err := jsonlimit.List[integer](b, len(v), "numbers")
	if _, tooMany := errors.AsType[*jsonlimit.TooManyError](err); tooMany || err == nil && len(list) != len(v) {
		return fmt.Errorf("expected 3 numbers, found %s", jsonlimit.Abbreviate(b))
	}
	if err != nil {
		return err
	}
	for axis, n := range list {
		v[axis] = int(n)
	}
	return nil
}

// resolution is the size of a voxel on x, y and z, in nm. Each is above 0; all are 0 if unknown.
type resolution [3]float64

func (r *resolution) UnmarshalJSON(b []byte) error {
	list, err := jsonlimit.List[float64](b, len(r), "numbers")
	if err != nil || len(list) != len(r) || min(list[0], list[1], list[2]) <= 0 {
		return fmt.Errorf("expected 3 numbers above 0, found %s", jsonlimit.Abbreviate(b))
	}
	copy(r[:], list)
	return nil
}
