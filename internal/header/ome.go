package header

import (
	"bytes"
	"encoding/xml"
	"strconv"

	"github.com/wkwfs/wkwfs/volume"
)

// omeTypes are OME's names of value types; it has none for 64-bit integers.
var omeTypes = map[volume.Type]string{
	volume.Uint8: "uint8", volume.Uint16: "uint16", volume.Uint32: "uint32",
	volume.Int8: "int8", volume.Int16: "int16", volume.Int32: "int32",
	volume.Float32: "float", volume.Float64: "double",
}

// omeXML is the metadata of one image in the OME schema of June 2016.
type omeXML struct {
	XMLName xml.Name `xml:"http://www.openmicroscopy.org/Schemas/OME/2016-06 OME"`
	Image   struct {
		ID     string    `xml:",attr"`
		Name   string    `xml:",attr,omitempty"`
		Pixels omePixels `xml:"Pixels"`
	}
}

type omePixels struct {
	ID             string `xml:",attr"`
	DimensionOrder string `xml:",attr"`
	Type           string `xml:",attr"`
	SizeX          int    `xml:",attr"`
	SizeY          int    `xml:",attr"`
	SizeZ          int    `xml:",attr"`
	SizeC          int    `xml:",attr"`
	SizeT          int    `xml:",attr"`
	BigEndian      bool   `xml:",attr"`
	Interleaved    bool   `xml:",attr"`
	omeSpacing
	Channel struct {
		ID              string `xml:",attr"`
		SamplesPerPixel int    `xml:",attr"`
	}
	TiffData struct{}
	Plane    *omePlane
}

// omeSpacing is the size of a voxel; empty where it is not known.
type omeSpacing struct {
	X  string `xml:"PhysicalSizeX,attr,omitempty"`
	XU string `xml:"PhysicalSizeXUnit,attr,omitempty"`
	Y  string `xml:"PhysicalSizeY,attr,omitempty"`
	YU string `xml:"PhysicalSizeYUnit,attr,omitempty"`
	Z  string `xml:"PhysicalSizeZ,attr,omitempty"`
	ZU string `xml:"PhysicalSizeZUnit,attr,omitempty"`
}

// omePlane is where the first plane lies.
type omePlane struct {
	TheZ int    `xml:",attr"`
	TheC int    `xml:",attr"`
	TheT int    `xml:",attr"`
	X    string `xml:"PositionX,attr"`
	XU   string `xml:"PositionXUnit,attr"`
	Y    string `xml:"PositionY,attr"`
	YU   string `xml:"PositionYUnit,attr"`
	Z    string `xml:"PositionZ,attr"`
	ZU   string `xml:"PositionZUnit,attr"`
}

// ome returns the description of a TIFF as OME-XML, with the final zero that the tag
// demands; nil where OME has no name for the type. A page is a plane, in rising z.
func ome(a Array) []byte {
	g := a.Grid
	name, ok := omeTypes[g.Type]
	if !ok {
		return nil
	}
	var o omeXML
	o.Image.ID, o.Image.Name = "Image:0", oneLine(a.Name)
	p := &o.Image.Pixels
	p.ID, p.DimensionOrder, p.Type = "Pixels:0", "XYCZT", name
	p.SizeX, p.SizeY, p.SizeZ, p.SizeC, p.SizeT = g.Size[0], g.Size[1], g.Size[2], g.Channels, 1
	p.Interleaved = g.Channels > 1
	p.Channel.ID, p.Channel.SamplesPerPixel = "Channel:0:0", g.Channels
	const unit = "nm"
	if spacing, origin, known := a.world(1); known {
		s := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
		p.omeSpacing = omeSpacing{s(spacing[0]), unit, s(spacing[1]), unit, s(spacing[2]), unit}
		p.Plane = &omePlane{X: s(origin[0]), XU: unit, Y: s(origin[1]), YU: unit, Z: s(origin[2]), ZU: unit}
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	if err := xml.NewEncoder(&b).Encode(o); err != nil {
		return nil // there is nothing in it that cannot be encoded
	}
	b.WriteByte(0)
	return b.Bytes()
}
