package volume

import "fmt"

// Type is the type of one value: one channel of a voxel.
type Type uint8

// The valid types. The zero Type is not valid.
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
	name string // as in numpy
	kind byte   // as in numpy: 'u' unsigned, 'i' signed, 'f' float
	size int    // bytes
}{
	Uint8: {"uint8", 'u', 1}, Uint16: {"uint16", 'u', 2}, Uint32: {"uint32", 'u', 4}, Uint64: {"uint64", 'u', 8},
	Int8: {"int8", 'i', 1}, Int16: {"int16", 'i', 2}, Int32: {"int32", 'i', 4}, Int64: {"int64", 'i', 8},
	Float32: {"float32", 'f', 4}, Float64: {"float64", 'f', 8},
}

// Types returns every valid Type, in the order of the constants.
func Types() []Type {
	all := make([]Type, 0, len(types)-1)
	for t := Uint8; t.Valid(); t++ {
		all = append(all, t)
	}
	return all
}

// ParseType returns the Type with a name of numpy, such as "uint8" or "float32".
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

// Size returns the bytes of one value. It returns 0 if the Type is not valid.
func (t Type) Size() int {
	if !t.Valid() {
		return 0
	}
	return types[t].size
}

// String returns numpy's name for the type, such as "uint16".
func (t Type) String() string {
	if !t.Valid() {
		return fmt.Sprintf("Type(%d)", uint8(t))
	}
	return types[t].name
}

// IsFloat reports whether values are floating-point numbers.
func (t Type) IsFloat() bool { return t.Valid() && types[t].kind == 'f' }

// IsUnsigned reports whether values are unsigned integers.
func (t Type) IsUnsigned() bool { return t.Valid() && types[t].kind == 'u' }

// IsInteger reports whether values are integers, signed or not.
func (t Type) IsInteger() bool { return t.Valid() && !t.IsFloat() }

// Descr returns numpy's type string with the byte order, such as "<u2" or "|u1". It returns ""
// if the Type is not valid.
func (t Type) Descr() string {
	switch {
	case !t.Valid():
		return ""
	case t.Size() == 1: // the byte order does not apply
		return "|" + t.code()
	}
	return "<" + t.code()
}

// code returns numpy's type string without the byte order, such as "u2".
func (t Type) code() string { return fmt.Sprintf("%c%d", types[t].kind, types[t].size) }

// ParseDescr returns the Type with numpy's type string, and whether its values are big-endian. The byte order is "<" or
// ">", or "|" for values of one byte.
func ParseDescr(descr string) (t Type, bigEndian bool, err error) {
	for t := Uint8; t.Valid(); t++ {
		switch descr {
		case "<" + t.code(), t.Descr():
			return t, false, nil
		case ">" + t.code():
			return t, true, nil
		}
	}
	return 0, false, fmt.Errorf("unknown numpy type %q", descr)
}
