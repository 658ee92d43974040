package web

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

func TestValidate(t *testing.T) {
	good := volumeInfo{Dtype: "uint8", Channels: 1, Shape: volume.Vec{1, 1, 1}}
	for _, test := range []struct {
		name   string
		damage func(*volumeInfo)
		want   string
	}{
		{"good", func(*volumeInfo) {}, ""},
		{"dtype", func(v *volumeInfo) { v.Dtype = "uint7" }, `volume.json: unknown dtype "uint7"`},
		{"no channel", func(v *volumeInfo) { v.Channels = 0 },
			"volume.json: 0 channels of uint8: expected 1 to 1024 bytes per voxel"},
		{"many channels", func(v *volumeInfo) { v.Channels = 1 << 62 },
			"volume.json: 4611686018427387904 channels of uint8: expected 1 to 1024 bytes per voxel"},
		{"empty", func(v *volumeInfo) { v.Shape[1] = 0 }, "volume.json: shape 1,0,1 is empty"},
		{"negative", func(v *volumeInfo) { v.Shape[2] = -1 }, "volume.json: shape 1,1,-1 is empty"},
	} {
		v := good
		test.damage(&v)
		got := ""
		if err := v.validate("volume.json"); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: error %q, want %q", test.name, got, test.want)
		}
	}
}
