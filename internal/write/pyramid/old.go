package pyramid

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// oldCube is a cube file that is replaced. It is open only while blocks of it are copied: a box may have more cubes
// than a process may have descriptors.
type oldCube struct {
	path    string
	version volume.Version // when the update of the cube started
}

// newOldCube describes the cube file. It must have the geometry of the mag.
func newOldCube(path string, want wkw.Header) (*oldCube, error) {
	f, err := openCube(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read-only
	have := f.Header()
	if !have.Fits(want) || (have.BlockType == wkw.Raw) != (want.BlockType == wkw.Raw) {
		return nil, fmt.Errorf("%s: %v cubes of %v voxels: expected %v cubes of %v voxels, as the mag has them", path,
			have.BlockType, have.Grid().Size, want.BlockType, want.Grid().Size)
	}
	return &oldCube{path, f.Version()}, nil
}

func openCube(path string) (*wkw.File, error) {
	return wkw.OpenFile(os.DirFS(filepath.Dir(path)), filepath.Base(path))
}

// open opens the file again. It fails with volume.ErrChanged if it is another one, or has changed.
func (o *oldCube) open() (*wkw.File, error) {
	f, err := openCube(o.path)
	if err != nil {
		return nil, err
	}
	if f.Version() != o.version {
		f.Close() // read-only
		return nil, fmt.Errorf("%s: %w", o.path, volume.ErrChanged)
	}
	return f, nil
}
