package jsonlimit

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// maxMembers is the largest number of members of an [Object]. No real metadata reach it.
const maxMembers = 1000

// Object is a JSON object of up to 1,000 members. They are parsed one by one, so that an error names its member and
// does not affect others.
type Object map[string]json.RawMessage

// UnmarshalJSON keeps the members as they are. The value null is an Object that is nil.
func (o *Object) UnmarshalJSON(b []byte) error {
	members, err := Members(b, maxMembers)
	if err != nil || members == nil {
		return err
	}
	*o = make(Object, len(members))
	for _, m := range members {
		(*o)[m.Name] = m.Value
	}
	return nil
}

// Has reports whether there is a member with the name that is not null.
func (o Object) Has(name string) bool {
	b, ok := o[name]
	return ok && string(b) != "null"
}

// Get parses a member into *to. It does not change *to if the member is absent or null.
func (o Object) Get(name string, to any) error {
	if !o.Has(name) {
		return nil
	}
	if err := json.Unmarshal(o[name], to); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// MaxInteger limits the integers of metadata. It is far more than the voxels of any real volume on an axis, and small
// enough that sums of a few integers do not overflow.
const MaxInteger = 1 << 40

// Integer is an integer from −MaxInteger to MaxInteger. It may have the form 64.0, which programs write if all their
// numbers are floats.
type Integer int

// UnmarshalJSON accepts a whole number.
func (w *Integer) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > MaxInteger {
		return fmt.Errorf("expected a whole number up to 2^40, found %s", Abbreviate(b))
	}
	*w = Integer(f)
	return nil
}
