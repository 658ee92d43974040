package settings

import (
	"testing"
)

func TestUnit(t *testing.T) {
	for text, want := range map[string]string{"nm": "nm", "um": "um", "\u00b5m": "um", "\u03bcm": "um", "mm": "mm",
		"": "-", "NM": "-", "m": "-", "cm": "-", "nm ": "-"} {
		var u Unit
		if err := u.Set(text); (err == nil) != (want != "-") || err == nil && u.String() != want {
			t.Errorf("%q: got %q, %v, expected %s", text, u.String(), err, want)
		}
	}
}

func TestSize(t *testing.T) {
	tests := []struct {
		text string
		want int64 // -1: an error
	}{
		{"0", 0}, {"1B", 1}, {"1024B", 1024}, {"1", -1}, {"1023", -1}, {"1024", 1 << 10}, {"1048576", 1 << 20},
		{"1KiB", 1 << 10}, {"1kib", 1 << 10}, {"1 MiB", 1 << 20}, {"1GiB", 1 << 30},
		{"1GB", 1e9}, {"512MB", 512e6}, {"1.5GiB", 3 << 29}, {"1234567", 1234567}, {"2TiB", 2 << 40},
		{"", -1}, {"-1", -1}, {"-1GiB", -1}, {"GiB", -1}, {"1XB", -1}, {"1e9", -1}, {"NaN", -1}, {"inf", -1},
		{"1,024", -1}, {"1..5GiB", -1}, {"0x10", -1}, {"1GiB more", -1}, {"16EiB", -1}, {"4EiB", -1},
		{"99999999999999999999", -1},
	}
	for _, test := range tests {
		var b Size
		switch err := b.Set(test.text); {
		case test.want < 0 && err == nil:
			t.Errorf("%q: got %d, want an error", test.text, b)
		case test.want >= 0 && err != nil:
			t.Errorf("%q: %v", test.text, err)
		case test.want >= 0 && int64(b) != test.want:
			t.Errorf("%q: got %d, want %d", test.text, b, test.want)
		case test.want >= 0:
			var again Size
			if err := again.Set(b.String()); err != nil || again != b {
				t.Errorf("%d is written as %s, which is %d, %v", b, b.String(), again, err)
			}
		}
	}
}

func TestFree(t *testing.T) {
	for text, want := range map[string]Free{
		"5%": {0, 5}, "0%": {0, 0}, "99%": {0, 99}, "10GiB": {10 << 30, 0}, "1B": {1, 0}, "0": {0, 0}, "5": {-1, 0},
		"": {-1, 0}, "%": {-1, 0}, "100%": {-1, 0}, "-1%": {-1, 0}, "1.5%": {-1, 0}, "5 %": {-1, 0}, "-1GiB": {-1, 0},
		"x": {-1, 0},
	} {
		var got, again Free
		switch err := got.Set(text); {
		case want.Bytes < 0 && err == nil:
			t.Errorf("%q: got %v, want an error", text, got)
		case want.Bytes >= 0 && (err != nil || got != want):
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		case want.Bytes >= 0 && (again.Set(got.String()) != nil || again != got):
			t.Errorf("%v is written as %s, which is %v", got, got.String(), again)
		}
	}
}
