package precomputed

import (
	"fmt"
	"testing"
)

func TestParseMinishard(t *testing.T) {
	words := func(n ...uint64) (b []byte) {
		for _, n := range n {
			b = le.AppendUint64(b, n)
		}
		return b
	}
	const top = 1 << 63
	for _, c := range []struct {
		b    []byte
		want string // index or fault
	}{
		{nil, "[]"},
		{words(5, 0, 0), "[{5 16 0}]"},
		{words(5, 2, 10, 3, 100, 4), "[{5 26 100} {7 129 4}]"},
		{words(1<<64-1, top-17, 0), fmt.Sprintf("[{%d %d 0}]", uint64(1<<64-1), uint64(top-1))},
		{make([]byte, 23), "0: a multiple of 24 bytes: 23"},
		{words(5, 0, 0, 0, 1, 1), "8: rising chunk IDs: an increment of 0"},
		{words(5, 1<<64-5, 0, 0, 1, 1), "8: rising chunk IDs: an increment of 18446744073709551611"},
		{words(5, top-16, 0), "8: an offset below 2^63: 9223372036854775792 after byte 16"},
		{words(5, 1<<64-1, 0), "8: an offset below 2^63: 18446744073709551615 after byte 16"},
		{words(5, 0, top-16), "16: an end below 2^63: 9223372036854775792 bytes from byte 16"},
		{words(5, 1, 0, top-17, 17, 1), "24: an offset below 2^63: 9223372036854775791 after byte 33"},
	} {
		index, fault := parseMinishard(c.b, 16)
		got := fmt.Sprint([]entry(index))
		if fault != nil {
			got = fmt.Sprintf("%d: %s: %s", fault.offset, fault.expected, fault.found)
		}
		if got != c.want {
			t.Errorf("%v: got %s, expected %s", c.b, got, c.want)
		}
	}
}
