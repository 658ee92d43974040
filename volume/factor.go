package volume

import (
	"fmt"
	"strings"
)

// Factor is the extent of a mag's voxel in voxels of mag 1.
type Factor Vec

// ParseFactor parses the name of a mag: "4", or "4-4-2" if the axes differ. It accepts no
// sign and no leading zero, so that a factor has few names.
func ParseFactor(name string) (Factor, bool) {
	parts := strings.Split(name, "-")
	if len(parts) != 1 && len(parts) != 3 {
		return Factor{}, false
	}
	var f Factor
	for i, part := range parts {
		n, ok := ParseIndex(part)
		if !ok || n < 1 {
			return Factor{}, false
		}
		f[i] = n
	}
	if len(parts) == 1 {
		f[1], f[2] = f[0], f[0]
	}
	return f, true
}

// String returns the usual name of the mag: "4" or "4-4-2".
func (f Factor) String() string {
	if f[0] == f[1] && f[1] == f[2] {
		return fmt.Sprint(f[0])
	}
	return fmt.Sprintf("%d-%d-%d", f[0], f[1], f[2])
}

// ParseIndex parses a number from 0 to 2^40 in its shortest decimal form. The limit keeps
// later arithmetic from overflowing.
func ParseIndex(s string) (int, bool) {
	if s == "" || len(s) > 13 || (s[0] == '0' && len(s) > 1) {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, n <= 1<<40
}
