package volume

import (
	"strings"
	"testing"
)

func TestTypes(t *testing.T) {
	want := []struct {
		name, descr string
		size        int
	}{
		{"uint8", "|u1", 1}, {"uint16", "<u2", 2}, {"uint32", "<u4", 4}, {"uint64", "<u8", 8},
		{"int8", "|i1", 1}, {"int16", "<i2", 2}, {"int32", "<i4", 4}, {"int64", "<i8", 8},
		{"float32", "<f4", 4}, {"float64", "<f8", 8},
	}
	all := Types()
	if len(all) != len(want) {
		t.Fatalf("got %v", all)
	}
	for i, typ := range all {
		w := want[i]
		if !typ.Valid() || typ.String() != w.name || typ.Descr() != w.descr || typ.Size() != w.size {
			t.Errorf("got %v, %s, %d, expected %v", typ, typ.Descr(), typ.Size(), w)
		}
		if got, err := ParseType(w.name); got != typ || err != nil {
			t.Errorf("%s: got %v, %v", w.name, got, err)
		}
		if got, big, err := ParseDescr(w.descr); got != typ || big || err != nil {
			t.Errorf("%s: got %v, %v, %v", w.descr, got, big, err)
		}
		if got, big, err := ParseDescr(">" + w.descr[1:]); got != typ || !big || err != nil {
			t.Errorf("%s, big-endian: got %v, %v, %v", w.descr, got, big, err)
		}
		isFloat, isUnsigned := strings.HasPrefix(w.name, "float"), strings.HasPrefix(w.name, "uint")
		if typ.IsFloat() != isFloat || typ.IsInteger() == isFloat || typ.IsUnsigned() != isUnsigned {
			t.Errorf("%s: float %v, integer %v, unsigned %v", w.name, typ.IsFloat(), typ.IsInteger(), typ.IsUnsigned())
		}
	}
}

func TestTypesInvalid(t *testing.T) {
	for _, typ := range []Type{0, Float64 + 1, 255} {
		if typ.Valid() || typ.Size() != 0 || typ.Descr() != "" || typ.IsFloat() || typ.IsInteger() || typ.IsUnsigned() {
			t.Errorf("%v passes for a type", typ)
		}
	}
	if got := Type(255).String(); got != "Type(255)" {
		t.Errorf("got %s", got)
	}
	for _, name := range []string{"", "Uint8", "uint24", "float", "double", "<u2"} {
		if got, err := ParseType(name); err == nil {
			t.Errorf("%q: got %v", name, got)
		}
	}
	for _, descr := range []string{"", "u1", "|u2", "<u3", "=u2", "<u2 ", "uint8", "<f2", "|b1", "<"} {
		if got, _, err := ParseDescr(descr); err == nil {
			t.Errorf("%q: got %v", descr, got)
		}
	}
}
