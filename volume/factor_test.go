package volume

import (
	"strconv"
	"testing"
)

func TestParseFactor(t *testing.T) {
	for _, c := range []struct {
		name   string
		want   Factor
		string string // the usual name; empty if it is name
	}{
		{"1", Factor{1, 1, 1}, ""},
		{"2", Factor{2, 2, 2}, ""},
		{"512", Factor{512, 512, 512}, ""},
		{"2-2-1", Factor{2, 2, 1}, ""},
		{"1-2-4", Factor{1, 2, 4}, ""},
		{"3", Factor{3, 3, 3}, ""}, // need not be a power of two
		{"1-1-1", Factor{1, 1, 1}, "1"},
		{"1099511627776", Factor{1 << 40, 1 << 40, 1 << 40}, ""},
	} {
		got, ok := ParseFactor(c.name)
		if c.string == "" {
			c.string = c.name
		}
		if !ok || got != c.want || got.String() != c.string {
			t.Errorf("%s: got %v, %v", c.name, got, ok)
		}
	}
	for _, name := range []string{
		"", "0", "01", "-1", "+1", "1.0", "1 ", " 1", "x", "0x1", "1_0", "１",
		"2-2", "2-2-1-1", "2--1", "-2-2", "2-2-", "2-2-0", "02-2-1", "2-2-x", "2,2,1", "2-2-1/",
		"1099511627777", "99999999999999999999", "color", ".", "..",
	} {
		if got, ok := ParseFactor(name); ok {
			t.Errorf("%q: got %v", name, got)
		}
	}
}

func TestParseIndex(t *testing.T) {
	for _, c := range []struct {
		s  string
		n  int
		ok bool
	}{
		{"0", 0, true}, {"9", 9, true}, {"10", 10, true}, {"5748", 5748, true},
		{"1099511627775", 1<<40 - 1, true}, {"1099511627776", 1 << 40, true}, {"1099511627777", 0, false},
		{"9999999999999", 0, false}, {"10000000000000", 0, false}, {"18446744073709551616", 0, false},
		{"", 0, false}, {"00", 0, false}, {"01", 0, false}, {"-1", 0, false}, {"-0", 0, false}, {"+1", 0, false},
		{"1.5", 0, false}, {"1e3", 0, false}, {" 1", 0, false}, {"1\n", 0, false}, {"٣", 0, false},
	} {
		if n, ok := ParseIndex(c.s); ok != c.ok || ok && n != c.n {
			t.Errorf("%q: got %d, %v", c.s, n, ok)
		}
	}
}

// FuzzParseIndex shows that each number has exactly one form.
func FuzzParseIndex(f *testing.F) {
	for _, s := range []string{"0", "7", "007", "1099511627776", "-1", "1\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := ParseIndex(s)
		if ok && (n < 0 || n > 1<<40 || strconv.Itoa(n) != s) {
			t.Errorf("%q: got %d", s, n)
		}
		want, err := strconv.Atoi(s)
		if !ok && err == nil && want >= 0 && want <= 1<<40 && strconv.Itoa(want) == s {
			t.Errorf("%q: refused", s)
		}
	})
}

// FuzzParseFactor shows that String and ParseFactor are inverse.
func FuzzParseFactor(f *testing.F) {
	for _, s := range []string{"1", "2-2-1", "1-1-1", "2-2", "--", "1-1099511627776-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := ParseFactor(s)
		if !ok {
			return
		}
		if again, ok := ParseFactor(got.String()); !ok || again != got {
			t.Errorf("%q: got %v, and from its String %v, %v", s, got, again, ok)
		}
		if got[0] < 1 || got[1] < 1 || got[2] < 1 {
			t.Errorf("%q: got %v", s, got)
		}
	})
}
