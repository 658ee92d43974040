package importer

// openRaw opens a file that holds nothing but voxels: its size has to be just that.
func (in *Input) openRaw(path string, s RawShape) error {
	f, err := in.open(path)
	if err != nil {
		return err
	}
	in.Grid.Size, in.Grid.Type, in.Grid.Channels = s.Size, s.Type, s.Channels
	in.bigEndian = s.BigEndian
	return in.setVoxels(f, 0, true)
}
