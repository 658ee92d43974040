package header

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/wkwfs/wkwfs/volume"
)

// metaTypes has the element types of MetaImage. MET_LONG always has 32 bits.
var metaTypes = map[volume.Type]string{
	volume.Uint8: "MET_UCHAR", volume.Int8: "MET_CHAR",
	volume.Uint16: "MET_USHORT", volume.Int16: "MET_SHORT",
	volume.Uint32: "MET_UINT", volume.Int32: "MET_INT",
	volume.Uint64: "MET_ULONG_LONG", volume.Int64: "MET_LONG_LONG",
	volume.Float32: "MET_FLOAT", volume.Float64: "MET_DOUBLE",
}

// maxMetaComment limits a comment, in bytes. MetaIO has a buffer for it and does not check the length.
const maxMetaComment = 254

// MHD returns the detached header of a MetaImage. Lengths are in nm, unless Array.Unit is set. DistanceUnits names the
// unit. MetaIO knows only um, mm and cm by name, and its readers convert none of them. ElementDataFile must be the last
// field.
func MHD(a Array) ([]byte, error) {
	if err := a.checkDetached(); err != nil {
		return nil, err
	}
	// For MetaIO these names mean "in this file" and "the files in the list below".
	if a.Data == "LOCAL" || a.Data == "LIST" {
		return nil, &Unrepresentable{"MetaImage", fmt.Sprintf("%q has another meaning as a data file", a.Data)}
	}
	g := a.Grid
	unit := cmp.Or(a.Unit, Nanometre)
	spacing, origin, calibrated := a.world(unit)
	var b bytes.Buffer
	b.WriteString("ObjectType = Image\nNDims = 3\n")
	if a.Name != "" {
		fmt.Fprintf(&b, "Comment = %s\n", cut(oneLine(a.Name), maxMetaComment))
	}
	b.WriteString("BinaryData = True\nBinaryDataByteOrderMSB = False\nCompressedData = False\n")
	b.WriteString("TransformMatrix = 1 0 0 0 1 0 0 0 1\nCenterOfRotation = 0 0 0\n")
	if calibrated {
		fmt.Fprintf(&b, "DistanceUnits = %s\n", unit)
	}
	fmt.Fprintf(&b, "Offset = %v %v %v\n", origin[0], origin[1], origin[2])
	fmt.Fprintf(&b, "ElementSpacing = %v %v %v\n", spacing[0], spacing[1], spacing[2])
	fmt.Fprintf(&b, "DimSize = %d %d %d\n", g.Size[0], g.Size[1], g.Size[2])
	if g.Channels > 1 {
		fmt.Fprintf(&b, "ElementNumberOfChannels = %d\n", g.Channels)
	}
	fmt.Fprintf(&b, "ElementType = %s\n", metaTypes[g.Type])
	fmt.Fprintf(&b, "ElementDataFile = %s\n", a.Data)
	return b.Bytes(), nil
}
