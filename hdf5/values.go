package hdf5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// Bytes returns the values as they are stored.
func (a *Attribute) Bytes() []byte { return bytes.Clone(a.data) }

// Ints returns the values of integers, enumerations (also booleans) and bit fields. Values that int64 does not have
// are an error, as are floats.
func (a *Attribute) Ints() ([]int64, error) {
	t := a.scalar()
	switch t.Class {
	case ClassInteger, ClassEnum, ClassBitField:
	default:
		return nil, a.wrong("integers", t)
	}
	var all []int64
	for value := range a.each(t) {
		v, err := a.integer(t, value)
		if err != nil {
			return nil, err
		}
		if !t.Signed && v < 0 {
			return nil, a.failed("value", "at most 2^63 − 1", uint64(v))
		}
		all = append(all, v)
	}
	return all, nil
}

// Floats returns the values of numbers. Integers above 2^53 are rounded.
func (a *Attribute) Floats() ([]float64, error) {
	t := a.scalar()
	var all []float64
	for value := range a.each(t) {
		v, err := a.float(t, value)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	if len(all) == 0 && t.Class != ClassFloat && t.Class != ClassInteger {
		return nil, a.wrong("numbers", t)
	}
	return all, nil
}

// Strings returns the values of strings of fixed and of variable length, without what pads them.
func (a *Attribute) Strings() ([]string, error) {
	t := a.scalar()
	variable := t.Class == ClassVariable && t.IsString
	if t.Class != ClassString && !variable {
		return nil, a.wrong("strings", t)
	}
	var all []string
	room := a.file.limit.strings
	for value := range a.each(t) {
		if variable {
			b, err := a.variable(value)
			if err != nil {
				return nil, err
			}
			value = b
		}
		if room -= len(value); room < 0 {
			return nil, &NotSupportedError{Path: a.where(), What: fmt.Sprintf("more than %d bytes of strings",
				a.file.limit.strings)}
		}
		all = append(all, trim(t, value))
	}
	return all, nil
}

// References returns the addresses of the objects that references lead to. That of an empty reference is 0.
func (a *Attribute) References() ([]uint64, error) {
	t := a.scalar()
	if t.Class == ClassVariable && !t.IsString && t.Base.Class == ClassReference && t.Base.Reference == 0 {
		return a.listed()
	}
	if t.Class != ClassReference || t.Reference != 0 || t.Size != a.file.o {
		return nil, a.wrong("object references", t)
	}
	var all []uint64
	for value := range a.each(t) {
		c := cursor{sizes: a.file.sizes, b: value}
		all = append(all, c.address("reference"))
	}
	return all, nil
}

// listed returns the references in sequences of variable length, one after the other.
func (a *Attribute) listed() ([]uint64, error) {
	var all []uint64
	t := a.scalar()
	for value := range a.each(t) {
		c := cursor{sizes: a.file.sizes, b: value, addr: a.addr, what: "sequence"}
		n := uint64(c.u32("length"))
		addr, index := c.address("global heap"), c.u32("index")
		if c.err != nil {
			return nil, named(a.where(), c.err)
		}
		if n == 0 {
			continue
		}
		b, err := a.file.globalObject(addr, index)
		if err != nil {
			return nil, named(a.where(), err)
		}
		if n > uint64(len(b)/a.file.o) || len(all) > a.file.limit.names {
			return nil, a.failed("references", len(b)/a.file.o, n)
		}
		items := cursor{sizes: a.file.sizes, b: b}
		for range n {
			all = append(all, items.address("reference"))
		}
	}
	return all, nil
}

// scalar returns the datatype of one value: that in an array.
func (a *Attribute) scalar() *Datatype {
	t := &a.Type
	for t.Class == ClassArray {
		t = t.Base
	}
	return t
}

// each yields the bytes of every value of a type.
func (a *Attribute) each(t *Datatype) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for b := a.data; len(b) >= t.Size; b = b[t.Size:] {
			if !yield(b[:t.Size:t.Size]) {
				return
			}
		}
	}
}

// variable returns the bytes of a string of variable length.
func (a *Attribute) variable(value []byte) ([]byte, error) {
	c := cursor{sizes: a.file.sizes, b: value, addr: a.addr, what: "string"}
	n := uint64(c.u32("length"))
	addr, index := c.address("global heap"), c.u32("index")
	if c.err != nil {
		return nil, named(a.where(), c.err)
	}
	if n == 0 || addr == undefined || addr == 0 {
		return nil, nil
	}
	b, err := a.file.globalObject(addr, index)
	if err != nil {
		return nil, named(a.where(), err)
	}
	if n > uint64(len(b)) {
		return nil, a.failed("length of a string", fmt.Sprintf("at most %d", len(b)), n)
	}
	return b[:n], nil
}

// trim returns a string without its padding.
func trim(t *Datatype, value []byte) string {
	if i := bytes.IndexByte(value, 0); i >= 0 && t.Padding != PadSpaces {
		value = value[:i]
	}
	if t.Padding == PadSpaces {
		return strings.TrimRight(string(value), " \x00")
	}
	return string(value)
}

// integer returns a value. One that is not signed and too large is negative.
func (a *Attribute) integer(t *Datatype, value []byte) (int64, error) {
	if t.Size > 8 {
		return 0, a.wrong("integers of at most 8 bytes", t)
	}
	var word [8]byte
	copy(word[:], value)
	if t.BigEndian {
		for i, b := range value {
			word[len(value)-1-i] = b
		}
	}
	v := binary.LittleEndian.Uint64(word[:])
	unused := 64 - t.Precision
	v = v >> t.Offset << unused
	if t.Signed {
		return int64(v) >> unused, nil
	}
	return int64(v >> unused), nil
}

func (a *Attribute) float(t *Datatype, value []byte) (float64, error) {
	switch {
	case t.Class == ClassInteger || t.Class == ClassEnum || t.Class == ClassBitField:
		v, err := a.integer(t, value)
		if !t.Signed {
			return float64(uint64(v)), err
		}
		return float64(v), err
	case t.Class != ClassFloat || !t.IEEE:
		return 0, a.wrong("numbers", t)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if t.BigEndian {
		order = binary.BigEndian
	}
	switch t.Size {
	case 2:
		return halfFloat(order.Uint16(value)), nil
	case 4:
		return float64(math.Float32frombits(order.Uint32(value))), nil
	}
	return math.Float64frombits(order.Uint64(value)), nil
}

// halfFloat converts a float of 16 bits.
func halfFloat(v uint16) float64 {
	exponent, mantissa := int(v>>10&31), float64(v&1023)
	f := math.Ldexp(1+mantissa/1024, exponent-15)
	switch {
	case exponent == 0:
		f = math.Ldexp(mantissa/1024, -14)
	case exponent == 31 && mantissa == 0:
		f = math.Inf(1)
	case exponent == 31:
		return math.NaN()
	}
	if v>>15 != 0 {
		return -f
	}
	return f
}

func (a *Attribute) where() string { return fmt.Sprintf("%s: attribute %s", a.path, shorten(a.Name)) }

func (a *Attribute) failed(field string, expected, found any) error {
	return &FormatError{Path: a.where(), Address: a.addr, Field: field, Expected: expected, Found: found}
}

// wrong returns the error for values that the caller cannot have.
func (a *Attribute) wrong(expected string, t *Datatype) error {
	what := fmt.Sprintf("reading %s from values of class %v and %d bytes", expected, t.Class, t.Size)
	return &NotSupportedError{Path: a.where(), What: what}
}

// String returns the name of the class.
func (c Class) String() string {
	names := []string{"integer", "float", "time", "string", "bit field", "opaque", "compound", "reference",
		"enumeration",
		"variable length", "array", "complex"}
	if int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprint(uint8(c))
}
