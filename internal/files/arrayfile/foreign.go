package arrayfile

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// foreign is a format that is known, and not read.
type foreign struct {
	name     string
	instead  string // what to read, and what writes it
	suffixes []string
	at       int    // where the magic is
	magic    string // empty: there is none, or it is that of other formats, too
	tiff     bool   // a file is a TIFF whose pages are not planes of one volume
}

const (
	byFiji    = "OME-Zarr, which bioformats2raw writes, or OME-TIFF, which Fiji saves with Bio-Formats"
	byBFC     = "OME-Zarr, which bioformats2raw writes, or TIFF, which bfconvert writes of one series"
	byPicture = "TIFF or PNG, which ImageMagick writes"
	byUnpack  = "the file in it"
)

// foreignFormats is what people have, and programs that write something else of it.
var foreignFormats = []foreign{
	{name: "JPEG 2000", instead: "TIFF or PNG, which opj_decompress writes", suffixes: []string{".jp2", ".jpx", ".jpf"},
		magic: "\x00\x00\x00\x0cjP  "},
	{name: "JPEG 2000", instead: "TIFF or PNG, which opj_decompress writes", suffixes: []string{".j2k", ".j2c", ".jpc"},
		magic: "\xff\x4f\xff\x51"},
	{name: "Zeiss CZI", instead: byFiji, suffixes: []string{".czi"}, magic: "ZISRAWFILE"},
	{name: "Nikon ND2", instead: byFiji, suffixes: []string{".nd2"}, magic: "\xda\xce\xbe\x0a"},
	{name: "Leica LIF", instead: byFiji, suffixes: []string{".lif", ".lof", ".xlef"}},
	{name: "Olympus OIF", instead: byFiji, suffixes: []string{".oif"}},
	{name: "Olympus OIB", instead: byFiji, suffixes: []string{".oib"}},
	{name: "Zeiss ZVI", instead: byFiji, suffixes: []string{".zvi"}},
	{name: "OLE file of a microscope, such as OIB or ZVI", instead: byFiji, magic: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"},
	{name: "DeltaVision", instead: byFiji, suffixes: []string{".dv", ".r3d"}, at: 96, magic: "\xa0\xc0"},
	{name: "Andor SIF", instead: byFiji, suffixes: []string{".sif"}, magic: "Andor Technology"},
	{name: "DICOM", instead: "NIfTI, which dcm2niix writes", suffixes: []string{".dcm", ".dicom"}, at: 128,
		magic: "DICM"},
	{name: "MINC", instead: "NIfTI, which mnc2nii writes", suffixes: []string{".mnc"}, magic: "CDF\x01"},
	{name: "Olympus VSI", instead: byBFC, suffixes: []string{".vsi"}, tiff: true},
	{name: "Olympus ETS", instead: byBFC, suffixes: []string{".ets"}, magic: "SIS\x00"},
	{name: "Aperio SVS", instead: byBFC, suffixes: []string{".svs"}, tiff: true},
	{name: "Hamamatsu NDPI", instead: byBFC, suffixes: []string{".ndpi"}, tiff: true},
	{name: "Leica SCN", instead: byBFC, suffixes: []string{".scn"}, tiff: true},
	{name: "Ventana BIF", instead: byBFC, suffixes: []string{".bif"}, tiff: true},
	{name: "PerkinElmer QPTIFF", instead: byBFC, suffixes: []string{".qptiff"}, tiff: true},
	{name: "MIRAX", instead: byBFC, suffixes: []string{".mrxs"}},
	{name: "Gatan DM", instead: "MRC, which dm2mrc of IMOD writes", suffixes: []string{".dm3", ".dm4"}},
	{name: "FITS", instead: "an .npy file, which astropy and numpy write", suffixes: []string{".fits", ".fit"},
		magic: "SIMPLE  ="},
	{name: "MATLAB", instead: "an .npy file, which scipy.io.loadmat and numpy write, or HDF5, which save -v7.3 writes",
		suffixes: []string{".mat"}, magic: "MATLAB 5.0"},
	{name: "archive of numpy", instead: "an .npy file in it, which unzip writes", suffixes: []string{".npz"}},
	{name: "GIF", instead: byPicture, suffixes: []string{".gif"}, magic: "GIF8"},
	{name: "WebP", instead: byPicture, suffixes: []string{".webp"}, at: 8, magic: "WEBP"},
	{name: "BMP", instead: byPicture, suffixes: []string{".bmp"}},
	{name: "OpenEXR", instead: byPicture, suffixes: []string{".exr"}, magic: "\x76\x2f\x31\x01"},
	{name: "video", instead: "a folder of PNG files, which ffmpeg writes", suffixes: []string{".avi", ".mp4", ".mov",
		".mkv"}},
	{name: "file compressed by xz", instead: byUnpack + ", which unxz writes", suffixes: []string{".xz"},
		magic: "\xfd7zXZ\x00"},
	{name: "file compressed by zstd", instead: byUnpack + ", which unzstd writes", suffixes: []string{".zst"},
		magic: "\x28\xb5\x2f\xfd"},
	{name: "file compressed by bzip2", instead: byUnpack + ", which bunzip2 writes", suffixes: []string{".bz2"},
		magic: "BZh"},
	{name: "archive of tar", instead: "a directory, which tar -x writes", suffixes: []string{".tar", ".tgz"}, at: 257,
		magic: "ustar"},
}

// named reports whether a file has a suffix of the format.
func (f foreign) named(name string) bool {
	return slices.Contains(f.suffixes, strings.ToLower(path.Ext(name)))
}

// refuse returns the error of a file of the format.
func (f foreign) refuse(file, found string) error {
	return &volume.UnsupportedError{File: file, Part: f.name, Offset: int64(f.at), Expected: f.instead, Found: found}
}

// IsForeign reports whether a file has the name of a format that is known, and not read.
func IsForeign(name string) bool {
	return !strings.HasPrefix(path.Base(name), ".") &&
		slices.ContainsFunc(foreignFormats, func(f foreign) bool { return f.named(name) })
}

// RefuseName returns the error of a file whose name shows that it cannot be read, or nil.
func RefuseName(name string) error {
	if strings.HasPrefix(path.Base(name), ".") {
		return nil
	}
	for _, f := range foreignFormats {
		if f.named(name) {
			return f.refuse(name, fmt.Sprintf("a file %s", path.Ext(name)))
		}
	}
	return nil
}

// refuseForeign returns the error of a file of a format that is known, and not read, or nil. The start of the file
// decides, if it shows what the file is; else its name.
func refuseForeign(file string, start []byte) error {
	for _, f := range foreignFormats {
		if f.magic != "" && len(start) > f.at && bytes.HasPrefix(start[f.at:], []byte(f.magic)) && (len(f.magic) > 3 ||
			f.named(file)) {
			return f.refuse(file, "its signature")
		}
	}
	return RefuseName(file)
}

// refuseSlide returns the error of a file whose name shows that it is a TIFF of a slide scanner, or nil: its pages are
// pictures of several kinds and sizes.
func refuseSlide(file string) error {
	for _, f := range foreignFormats {
		if f.tiff && f.named(file) {
			return f.refuse(file, fmt.Sprintf("a file %s", path.Ext(file)))
		}
	}
	return nil
}
