package filesource

import (
	"crypto/sha256"
	"fmt"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// info describes the files of a mag as one. The version names its voxels: other levels and other times have other
// voxels of the same files.
func (m *mag) info(files fs.FileInfo) fs.FileInfo {
	version := vfs.VersionOf(files)
	sum := sha256.Sum256(fmt.Appendf(version[:], "%d %v %d", m.n, m.grid, m.t))
	return vfs.WithVersion(files, vfs.Version(sum[:16]))
}
