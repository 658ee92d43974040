package main

import (
	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/volume"
)

// fileFlags are the flags for what the header of a file does not say.
type fileFlags struct {
	rawFlags
	axes          string
	voxelSize     [3]float64
	shape, offset *volume.Vec // nil if not given
}

// rawFlags describe the values of a file without a header.
type rawFlags struct {
	dtype     string
	channels  int
	bigEndian bool
}

// register defines the flags for a file without a header, whose shape is another flag.
func (f *rawFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.dtype, "dtype", "",
		"`TYPE` of the values, for a file without a header: uint8, int8, … uint64, int64, float32, float64")
	flags.IntVar(&f.channels, "channels", 1, "`N` values per voxel, for a file without a header")
	flags.BoolVar(&f.bigEndian, "big-endian", false, "the values are big-endian, for a file without a header")
}

// registerShape defines the flags for the axes of a file.
func registerShape(flags *pflag.FlagSet, shape **volume.Vec, axes *string) {
	flags.Var(voxelsFlag{shape}, "shape", "voxels on each axis, for a file without a header")
	flags.StringVar(axes, "axes", "",
		"`AXES` of the shape as numpy prints it: xyz, zyx, cxyz, … (default: as format and size show)")
}

// register defines all flags for a SOURCE that is a file.
func (f *fileFlags) register(flags *pflag.FlagSet) {
	registerShape(flags, &f.shape, &f.axes)
	f.rawFlags.register(flags)
	flags.Var(lengthsFlag{&f.voxelSize}, "voxel-size", "of a file, in nm (default: from the header)")
	flags.Var(voxelsFlag{&f.offset}, "offset",
		"position of the first voxel of a file (default: from the header, or 0,0,0)")
}

// file returns what the flags say.
func (f *fileFlags) file() dataset.File {
	file := dataset.File{Type: f.dtype, BigEndian: f.bigEndian, Axes: f.axes, Spacing: f.voxelSize, Origin: f.offset}
	if f.channels != 1 {
		file.Channels = f.channels
	}
	if f.shape != nil {
		file.Size = *f.shape
	}
	return file
}
