package header

import (
	"bytes"
	"fmt"

	"github.com/wkwfs/wkwfs/volume"
)

// metaTypes are MetaImage's element types. MET_LONG is 32 bits there, whatever it
// is in C.
var metaTypes = map[volume.Type]string{
	volume.Uint8: "MET_UCHAR", volume.Int8: "MET_CHAR",
	volume.Uint16: "MET_USHORT", volume.Int16: "MET_SHORT",
	volume.Uint32: "MET_UINT", volume.Int32: "MET_INT",
	volume.Uint64: "MET_ULONG_LONG", volume.Int64: "MET_LONG_LONG",
	volume.Float32: "MET_FLOAT", volume.Float64: "MET_DOUBLE",
}

// metaComment is how many bytes of a comment MetaIO has room for; it does not check.
const metaComment = 254

// MHD returns the detached header of a MetaImage. Its readers take every length for
// mm, so that is what they get. ElementDataFile ends the header and comes last.
func MHD(a Array) ([]byte, error) {
	if err := a.checkDetached(); err != nil {
		return nil, err
	}
	// MetaIO reads these names as "in this file" and "files listed below".
	if a.Data == "LOCAL" || a.Data == "LIST" {
		return nil, &Unrepresentable{"MetaImage", fmt.Sprintf("%q has another meaning as a data file", a.Data)}
	}
	g := a.Grid
	spacing, origin, _ := a.world(1e6)
	var b bytes.Buffer
	b.WriteString("ObjectType = Image\nNDims = 3\n")
	if a.Name != "" {
		fmt.Fprintf(&b, "Comment = %s\n", cut(oneLine(a.Name), metaComment))
	}
	b.WriteString("BinaryData = True\nBinaryDataByteOrderMSB = False\nCompressedData = False\n")
	b.WriteString("TransformMatrix = 1 0 0 0 1 0 0 0 1\nCenterOfRotation = 0 0 0\n")
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
