package volume

import "fmt"

// Type is the type of one value (one channel of a voxel).
type Type uint8

// The value types that the formats share. The zero Type is not one of them.
const (
	Uint8 Type = iota + 1
	Uint16
	Uint32
	Uint64
	Int8
	Int16
	Int32
	Int64
	Float32
	Float64
)

var types = [...]struct {
	name  string
	descr string // numpy's array-interface form, little-endian
	size  int
}{
	Uint8: {"uint8", "|u1", 1}, Uint16: {"uint16", "<u2", 2}, Uint32: {"uint32", "<u4", 4}, Uint64: {"uint64", "<u8", 8},
	Int8: {"int8", "|i1", 1}, Int16: {"int16", "<i2", 2}, Int32: {"int32", "<i4", 4}, Int64: {"int64", "<i8", 8},
	Float32: {"float32", "<f4", 4}, Float64: {"float64", "<f8", 8},
}

// Types returns every valid Type, in the order of the constants.
func Types() []Type {
	all := make([]Type, 0, len(types)-1)
	for t := Uint8; t.Valid(); t++ {
		all = append(all, t)
	}
	return all
}

// ParseType returns the Type with the numpy name, such as "uint8" or "float32".
func ParseType(name string) (Type, error) {
	for t := Uint8; t.Valid(); t++ {
		if types[t].name == name {
			return t, nil
		}
	}
	return 0, fmt.Errorf("unknown voxel type %q", name)
}

// Valid reports whether t is one of the constants.
func (t Type) Valid() bool { return t >= Uint8 && int(t) < len(types) }

// Size returns the bytes of one value; 0 for a Type that is not valid.
func (t Type) Size() int {
	if !t.Valid() {
		return 0
	}
	return types[t].size
}

// String returns numpy's name of the type, such as "uint16".
func (t Type) String() string {
	if !t.Valid() {
		return fmt.Sprintf("Type(%d)", uint8(t))
	}
	return types[t].name
}

// Descr returns numpy's type string with the byte order, such as "<u2" or "|u1".
func (t Type) Descr() string {
	if !t.Valid() {
		return ""
	}
	return types[t].descr
}
