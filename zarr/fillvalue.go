package zarr

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

// parseFill returns the bytes of a fill value, little-endian. It is nil for null and for no value: such chunks are 0
// here, because the specification of version 2 leaves their values open.
func parseFill(raw json.RawMessage, n codec.Number) ([]byte, error) {
	word, ok := fillWord(raw)
	if !ok {
		return nil, nil
	}
	b, ok := numberBytes(word, n)
	if !ok {
		return nil, fmt.Errorf("fill_value: expected a value of type %v, found %s", n, jsonlimit.Abbreviate(raw))
	}
	if n.Half {
		value := float32(codec.Number{Type: n.Type, Half: true}.Value(b).Float)
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(value)), nil
	}
	return b, nil
}

// fillWord returns a value as it is in JSON, without quotation marks. It returns false if there is none.
func fillWord(raw json.RawMessage) (word string, ok bool) {
	word = strings.TrimSpace(string(raw))
	var quoted string
	switch {
	case word == "" || word == "null":
		return "", false
	case word == "true":
		word = "1"
	case word == "false":
		word = "0"
	case json.Unmarshal(raw, &quoted) == nil:
		word = quoted
	}
	return word, true
}

// numberBytes returns the bytes of a number, little-endian.
func numberBytes(word string, n codec.Number) ([]byte, bool) {
	if !n.Half {
		bits, ok := fillBits(word, n.Type)
		return binary.LittleEndian.AppendUint64(nil, bits)[:n.Type.Size()], ok
	}
	if digits, isHex := strings.CutPrefix(word, "0x"); isHex {
		b, err := hex.DecodeString(digits)
		if err != nil || len(b) != n.Size() {
			return nil, false
		}
		return binary.LittleEndian.AppendUint16(nil, uint16(bigEndian(b))), true
	}
	bits, ok := floatBits(word, 64)
	return binary.LittleEndian.AppendUint16(nil, codec.HalfBits(math.Float64frombits(bits))), ok
}

// fillBits returns the bits of a value. A text such as "0x7fc00000" has the bits of a floating-point number.
func fillBits(word string, t volume.Type) (bits uint64, ok bool) {
	size := 8 * t.Size()
	if digits, isHex := strings.CutPrefix(word, "0x"); isHex && t.IsFloat() {
		b, err := hex.DecodeString(digits)
		if err != nil || len(b) != t.Size() {
			return 0, false
		}
		return bigEndian(b), true
	}
	switch {
	case t.IsFloat():
		return floatBits(word, size)
	case t.IsUnsigned():
		n, err := strconv.ParseUint(wholePart(word), 10, size)
		return n, err == nil
	}
	n, err := strconv.ParseInt(wholePart(word), 10, size)
	return uint64(n), err == nil
}

func floatBits(word string, size int) (uint64, bool) {
	switch word {
	case "Infinity":
		word = "+Inf"
	case "-Infinity":
		word = "-Inf"
	}
	f, err := strconv.ParseFloat(word, size)
	if err != nil || strings.ContainsAny(word, "xX_") {
		return 0, false
	}
	if math.IsNaN(f) {
		if size == 32 {
			return 0x7fc00000, true
		}
		return 0x7ff8000000000000, true
	}
	if size == 32 {
		return uint64(math.Float32bits(float32(f))), true
	}
	return math.Float64bits(f), true
}

// wholePart returns 64 for 64.0, which programs write if all their numbers are floats.
func wholePart(word string) string {
	whole, fraction, ok := strings.Cut(word, ".")
	if ok && fraction != "" && strings.Trim(fraction, "0") == "" {
		return whole
	}
	return word
}

// bigEndian returns the number in up to 8 bytes.
func bigEndian(b []byte) (n uint64) {
	for _, digit := range b {
		n = n<<8 | uint64(digit)
	}
	return n
}
