package edit

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/wkwfs/wkwfs/volume"
)

// nameOf returns the path of the file of a block, in the directory of its mag.
func nameOf(at volume.Vec) string { return fmt.Sprintf("z%d/y%d/x%d.wkw", at[2], at[1], at[0]) }

// parseName is the inverse of nameOf.
func parseName(name string) (at volume.Vec, ok bool) {
	stem, isBlock := strings.CutSuffix(name, ".wkw")
	parts := strings.Split(stem, "/")
	if !isBlock || len(parts) != 3 {
		return at, false
	}
	for i, prefix := range []string{"z", "y", "x"} {
		number, found := strings.CutPrefix(parts[i], prefix)
		if at[2-i], ok = volume.ParseIndex(number); !found || !ok {
			return at, false
		}
	}
	return at, nameOf(at) == name
}

func shortHash(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:16]
}

// inodeOf returns the number of a file on its disk, where it has one.
func inodeOf(info fs.FileInfo) (ino uint64, ok bool) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino, true
	}
	return 0, false
}
