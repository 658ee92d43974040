package header

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// XDMF returns an XDMF 3 document. It describes the raw file as a uniform grid with values at its nodes. Triples in
// XDMF are z, y, x.
func XDMF(a Array) ([]byte, error) {
	if err := a.checkDetached(); err != nil {
		return nil, err
	}
	g := a.Grid
	number, ok := xdmfNumbers[g.Type]
	if !ok {
		return nil, &Unrepresentable{"XDMF", fmt.Sprintf("readers treat %v as uint32", g.Type)}
	}
	spacing, origin, _ := a.world(cmp.Or(a.Unit, Nanometre))
	nodes := fmt.Sprintf("%d %d %d", g.Size[2], g.Size[1], g.Size[0])
	attribute, items := "Scalar", nodes
	if g.Channels > 1 {
		attribute, items = "Matrix", fmt.Sprintf("%s %d", nodes, g.Channels)
	}
	if g.Channels == 3 {
		attribute = "Vector" // has three components by definition
	}
	name := a.Name
	if name == "" {
		name = "voxels"
	}
	fields := strings.NewReplacer(
		"{NAME}", escape(oneLine(name)), "{FILE}", escape(a.Data),
		"{NODES}", nodes, "{ATTRIBUTE}", attribute, "{ITEMS}", items,
		"{NUMBER}", number, "{PRECISION}", fmt.Sprint(g.Type.Size()),
		"{ORIGIN}", fmt.Sprint(origin[2], origin[1], origin[0]),
		"{SPACING}", fmt.Sprint(spacing[2], spacing[1], spacing[0]),
	)
	return []byte(fields.Replace(xdmfTemplate)), nil
}

const xdmfTemplate = `<?xml version="1.0"?>
<Xdmf Version="3.0">
  <Domain>
    <Grid Name="{NAME}" GridType="Uniform">
      <Topology TopologyType="3DCoRectMesh" Dimensions="{NODES}"/>
      <Geometry GeometryType="ORIGIN_DXDYDZ">
        <DataItem Format="XML" NumberType="Float" Precision="8" Dimensions="3">{ORIGIN}</DataItem>
        <DataItem Format="XML" NumberType="Float" Precision="8" Dimensions="3">{SPACING}</DataItem>
      </Geometry>
      <Attribute Name="voxels" AttributeType="{ATTRIBUTE}" Center="Node">
        <DataItem Format="Binary" NumberType="{NUMBER}" Precision="{PRECISION}" Endian="Little" Seek="0" Dimensions="{ITEMS}">{FILE}</DataItem>
      </Attribute>
    </Grid>
  </Domain>
</Xdmf>
`

// xdmfNumbers has the number types. 16-bit types need their own names: readers treat an Int or UInt of two bytes,
// which the format allows, as 32 bits. Readers also treat a UInt of eight bytes as 32 bits, and uint64 has no other
// name.
var xdmfNumbers = map[volume.Type]string{
	volume.Uint8: "UChar", volume.Int8: "Char",
	volume.Uint16: "UShort", volume.Int16: "Short",
	volume.Uint32: "UInt", volume.Int32: "Int", volume.Int64: "Int",
	volume.Float32: "Float", volume.Float64: "Float",
}

// escape escapes s for XML text and attributes.
func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a Buffer takes everything
	return b.String()
}
