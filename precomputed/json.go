package precomputed

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/wkwfs/wkwfs/volume"
)

// object is a JSON object whose members are read one by one, so that an error in one
// names it and spoils no other.
type object map[string]json.RawMessage

// get reads the member into to; it leaves to alone where there is none, or null.
func (o object) get(name string, to any) error {
	b, ok := o[name]
	if !ok || string(b) == "null" {
		return nil
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// maxWhole is the largest number that is read, so that sums and products of two of
// them cannot overflow: 2^40 voxels are more than anybody has on an axis.
const maxWhole = 1 << 40

// whole is an integer from −maxWhole to maxWhole, also in a form such as 64.0, which
// programs write that have all numbers as floats.
type whole int

func (w *whole) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxWhole {
		return fmt.Errorf("expected a whole number up to 2^40, found %s", shortened(b))
	}
	*w = whole(f)
	return nil
}

// triple is a list of three numbers: x, y, z.
type triple volume.Vec

func (v *triple) UnmarshalJSON(b []byte) error {
	var list []whole
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	if len(list) != len(v) {
		return fmt.Errorf("expected 3 numbers, found %s", shortened(b))
	}
	for axis, n := range list {
		v[axis] = int(n)
	}
	return nil
}

// resolution is a list of three lengths in nm, each positive.
type resolution [3]float64

func (r *resolution) UnmarshalJSON(b []byte) error {
	var list []float64
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	if len(list) != len(r) || min(list[0], list[1], list[2]) <= 0 {
		return fmt.Errorf("expected 3 numbers above 0, found %s", shortened(b))
	}
	copy(r[:], list)
	return nil
}

// shortened makes bytes of any length fit into an error.
func shortened(b []byte) string {
	const most = 60
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}
