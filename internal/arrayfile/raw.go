package arrayfile

import "github.com/wkwfs/wkwfs/volume"

// RawShape describes the voxels of a file without a header.
type RawShape struct {
	Size      volume.Vec
	Type      volume.Type
	Channels  int
	BigEndian bool
}

// OpenRaw opens a file of voxels without a header. The size of the file must match.
func OpenRaw(path string, s RawShape) (*Array, error) {
	return openWith(func(a *Array, path string) error {
		f, err := a.open(path)
		if err != nil {
			return err
		}
		a.Grid.Size, a.Grid.Type, a.Grid.Channels = s.Size, s.Type, s.Channels
		a.bigEndian = s.BigEndian
		return a.setVoxels(section{file: f, exact: true})
	}, path)
}
