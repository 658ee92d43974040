package arrayfile

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// mrc returns an MRC file of 2 × 3 × 4 voxels of 40, 50 and 60 Å, changed.
func mrc(order binary.ByteOrder, mode uint32, change func(h []byte), voxels []byte) []byte {
	h := make([]byte, mrcSize)
	for i := range 3 {
		order.PutUint32(h[mrcN+4*i:], uint32(2+i))
		order.PutUint32(h[mrcM+4*i:], uint32(10*(2+i)))
		order.PutUint32(h[mrcCell+4*i:], math.Float32bits(float32(10*(2+i)*(40+10*i))))
		order.PutUint32(h[mrcMap+4*i:], uint32(1+i))
	}
	order.PutUint32(h[mrcMode:], mode)
	copy(h[mrcMagic:], "MAP ")
	change(h)
	return slices.Concat(h, voxels)
}

// TestMRC reads all modes in both byte orders.
func TestMRC(t *testing.T) {
	const none = 0
	for name, test := range map[string]struct {
		mode      uint32
		stamp     bool
		flags     uint32
		want      volume.Type
		channels  int
		valueSize int // stored
		warnings  int
	}{
		"bytes":           {0, false, none, volume.Int8, 1, 1, 1},
		"signed of IMOD":  {0, true, 1, volume.Int8, 1, 1, 0},
		"bytes of IMOD":   {0, true, none, volume.Uint8, 1, 1, 0},
		"shorts":          {1, false, none, volume.Int16, 1, 2, 0},
		"floats":          {2, false, none, volume.Float32, 1, 4, 0},
		"unsigned shorts": {6, false, none, volume.Uint16, 1, 2, 0},
		"halves":          {12, false, none, volume.Float32, 1, 2, 0},
		"RGB":             {16, true, none, volume.Uint8, 3, 1, 0},
	} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			want := counted(24 * test.channels * test.valueSize)
			stored := want
			if order == binary.ByteOrder(binary.BigEndian) {
				stored = swapped(want, test.valueSize)
			}
			b := mrc(order, test.mode, func(h []byte) {
				order.PutUint32(h[mrcNSymbt:], 5)
				order.PutUint32(h[mrcStart+4:], 7)
				if test.stamp {
					order.PutUint32(h[imodStamp:], imodNumber)
					order.PutUint32(h[imodFlags:], test.flags)
				}
			}, append([]byte("extra"), stored...))
			for suffix, b := range map[string][]byte{".mrc": b, ".mrc.gz": gzipped(b)} {
				path := filepath.Join(t.TempDir(), "f"+suffix)
				write(t, path, b)
				a := mustOpen(t, path)
				g := volume.Grid{Size: volume.Vec{2, 3, 4}, Block: volume.Cube(1), Type: test.want,
					Channels: test.channels, Origin: volume.Vec{0, 7, 0}, Spacing: [3]float64{4, 5, 6}}
				if a.Grid != g || !a.Positioned || len(a.Warnings) != test.warnings {
					t.Errorf("%s, %v: got %+v, %v", name, order, a.Grid, a.Warnings)
				}
				got := voxelsOf(t, a)
				if test.mode == 12 {
					for i := range 24 {
						if v := le.Uint32(got[4*i:]); v != float32Bits(le.Uint16(want[2*i:])) {
							t.Errorf("%s: value %d is %x", name, i, v)
						}
					}
				} else if !bytes.Equal(got, want) {
					t.Errorf("%s, %v: got % x", name, order, got)
				}
			}
		}
	}
}

// TestMRCErrors: an error names the field. Voxels of 1 Å and bytes at the end are warnings.
func TestMRCErrors(t *testing.T) {
	v := counted(24)
	set := func(at int, v uint32) func(h []byte) { return func(h []byte) { le.PutUint32(h[at:], v) } }
	path := filepath.Join(t.TempDir(), "f")
	for want, change := range map[string]func(h []byte){
		"nz at byte 8: expected at least 1 voxel, found -1":           set(8, math.MaxUint32),
		"mapr at byte 68: expected axis 2, found 3":                   set(mrcMap+4, 3),
		"mode at byte 12: expected 0, 1, 2, 6, 12 or 16, found 4":     set(mrcMode, 4),
		"ispg at byte 88: expected one volume, found 401, a stack":    set(mrcISPG, 401),
		"nsymbt at byte 92: expected an extended header":              set(mrcNSymbt, 25),
		"voxels at byte 1025: expected 24 bytes for 2,3,4 voxels":     set(mrcNSymbt, 1),
		"nsymbt at byte 92: expected an extended header within the f": set(mrcNSymbt, 1<<31),
		"2^63": func(h []byte) {
			for i := range 3 {
				set(4*i, math.MaxInt32)(h)
			}
		},
	} {
		write(t, path, mrc(le, 0, change, v))
		if a, err := Open(path); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("got %v, %v, want %q", a, err, want)
		}
	}
	write(t, path, mrc(le, 1, func(h []byte) {
		for i := range 3 {
			le.PutUint32(h[mrcCell+4*i:], math.Float32bits(float32(10*(2+i))))
		}
	}, counted(50)))
	if a := mustOpen(t, path); a.Grid.Spacing != [3]float64{} || a.Positioned || len(a.Warnings) != 2 ||
		!strings.Contains(a.Warnings[1], "2 bytes after") {
		t.Errorf("got %+v, %q", a.Grid, a.Warnings)
	}
}

// TestMRCOrigin: an origin that is not nxstart … is not used, and a warning says so.
func TestMRCOrigin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for origin, warnings := range map[float32]int{0: 0, 280: 0, -280: 0, 320: 1} {
		write(t, path, mrc(le, 1, func(h []byte) {
			le.PutUint32(h[mrcStart:], 7)
			le.PutUint32(h[mrcOrigin:], math.Float32bits(origin))
		}, counted(48)))
		if a := mustOpen(t, path); a.Grid.Origin != (volume.Vec{7, 0, 0}) || len(a.Warnings) != warnings {
			t.Errorf("origin %v: got %v, %q", origin, a.Grid.Origin, a.Warnings)
		}
	}
}

// TestHDF5: HDF5 is refused by name.
func TestHDF5(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.h5")
	for _, before := range []int{0, 512, 2048} {
		write(t, path, append(make([]byte, before), hdf5Magic+"\x00\x00\x00\x00"...))
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path+": unsupported HDF5") {
			t.Errorf("at %d: got %v", before, err)
		}
	}
}
