package web

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

func TestPreviewBox(t *testing.T) {
	for _, test := range []struct {
		shape, origin volume.Vec
		dtype         string
		channels      int
		offset        volume.Vec
		width, height int
	}{
		{volume.Vec{210, 180, 92}, volume.Vec{100, 70, 34}, "uint8", 1, volume.Vec{100, 70, 80}, 210, 180},
		{volume.Vec{1, 1, 1}, volume.Vec{-5, 0, 0}, "uint8", 1, volume.Vec{-5, 0, 0}, 1, 1},
		{volume.Vec{1024, 512, 1}, volume.Vec{}, "uint8", 1, volume.Vec{}, 1024, 512},
		{volume.Vec{1024, 513, 1}, volume.Vec{}, "uint8", 1, volume.Vec{1, 0, 0}, 1022, 513},
		{volume.Vec{1 << 40, 1 << 40, 7}, volume.Vec{}, "uint8", 1, volume.Vec{1<<39 - 362, 1<<39 - 362, 3}, 724, 724},
		{volume.Vec{1 << 40, 4, 7}, volume.Vec{}, "uint8", 1, volume.Vec{1<<39 - 1<<16, 0, 3}, 1 << 17, 4},
		{volume.Vec{4, 1 << 40, 7}, volume.Vec{}, "uint8", 1, volume.Vec{0, 1<<39 - 1<<16, 3}, 4, 1 << 17},
		{volume.Vec{1 << 20, 1 << 20, 7}, volume.Vec{}, "float64", 128, volume.Vec{1<<19 - 45, 1<<19 - 46, 3}, 90, 91},
	} {
		v := volumeInfo{Shape: test.shape, Origin: test.origin, Dtype: test.dtype, Channels: test.channels}
		box := v.previewBox()
		offset, width, height := box.Min, box.Size()[0], box.Size()[1]
		if offset != test.offset || width != test.width || height != test.height {
			t.Errorf("%v: %d × %d at %v, want %d × %d at %v", test.shape, width, height, offset, test.width,
				test.height, test.offset)
		}
		if width*height*v.voxelBytes() > maxPictureBytes || width*height > maxPictureVoxels {
			t.Errorf("%v: %d × %d voxels are too many", test.shape, width, height)
		}
	}
}
