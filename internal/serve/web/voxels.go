package web

import "github.com/wkwfs/wkwfs/volume"

// maxVoxelBytes is the greatest size of a voxel in bytes, with all channels.
const maxVoxelBytes = 1 << 10

// channelType returns the type of one channel of a voxel. A type that is unknown is not valid.
func (v *volumeInfo) channelType() volume.Type {
	t, err := volume.ParseType(v.Dtype)
	if err != nil {
		return 0
	}
	return t
}
