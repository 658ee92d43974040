package zarr

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

const numbers = "an integer, a boolean, or a float of 16, 32 or 64 bits"

// float16 is how floats of 16 bits are stored. They are shown as floats of 32 bits, which other programs know.
var float16 = codec.Number{Type: volume.Float32, Half: true}

// widen makes an array of numbers as they are stored show those that are shown.
func widen(a *chunked.Array, n codec.Number) {
	if n.Half {
		shown := codec.Number{Type: n.Type}
		a.Codecs = append(a.Codecs, codec.Convert{Name: "float16", From: n, To: shown})
	}
}

// parseDType parses a data type in the form of numpy (v2, "Data type encoding"). Booleans are bytes of 0 and 1.
func parseDType(name string) (n codec.Number, ok bool) {
	if name == "|b1" {
		name = "|u1"
	}
	if len(name) == 3 && name[2] == '1' { // some writers give a byte an order
		name = "|" + name[1:]
	}
	if half, found := strings.CutSuffix(name, "f2"); found && (half == "<" || half == ">") {
		n = float16
		n.Big = half == ">"
		return n, true
	}
	var err error
	n.Type, n.Big, err = volume.ParseDescr(name)
	return n, err == nil
}

// parseTypeName parses a data type of version 3.
func parseTypeName(name string) (n codec.Number, ok bool) {
	if name == "float16" {
		return float16, true
	}
	var err error
	n.Type, err = volume.ParseType(name)
	return n, err == nil
}

// numpyType parses a member with a data type of numpy, as numcodecs has it. Without the member it is usual.
func numpyType(o object, member string, usual *codec.Number) (n codec.Number, err error) {
	if !o.Has(member) && usual != nil {
		return *usual, nil
	}
	name, err := text(o, member)
	if err != nil {
		return n, err
	}
	for _, parse := range []func(string) (codec.Number, bool){
		parseDType, parseTypeName, func(name string) (codec.Number, bool) { return parseDType("<" + name) },
	} {
		if n, ok := parse(name); ok && name != "|b1" {
			return n, nil
		}
	}
	return n, unsupported(member, "an integer, or a float of 16, 32 or 64 bits",
		fmt.Sprintf("%q", jsonlimit.Abbreviate(name)))
}

// parseValue parses a value of a type, in the forms of fill values.
func parseValue(raw json.RawMessage, n codec.Number) (v codec.Value, err error) {
	word, ok := fillWord(raw)
	if !ok {
		return v, fmt.Errorf("expected a value of type %v, found none", n)
	}
	n.Big = false
	b, ok := numberBytes(word, n)
	if !ok {
		return v, fmt.Errorf("expected a value of type %v, found %s", n, jsonlimit.Abbreviate(raw))
	}
	return n.Value(b), nil
}
