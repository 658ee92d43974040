package header

import (
	"bytes"
	"encoding/xml"
	"strconv"

	"github.com/wkwfs/wkwfs/volume"
)

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

// omeSpacing is the size of a voxel. It is empty if unknown.
type omeSpacing struct {
	X  string `xml:"PhysicalSizeX,attr,omitempty"`
	XU string `xml:"PhysicalSizeXUnit,attr,omitempty"`
	Y  string `xml:"PhysicalSizeY,attr,omitempty"`
	YU string `xml:"PhysicalSizeYUnit,attr,omitempty"`
	Z  string `xml:"PhysicalSizeZ,attr,omitempty"`
	ZU string `xml:"PhysicalSizeZUnit,attr,omitempty"`
}

// omePlane is the position of the first plane.
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

// omeType returns OME's name of a type. It has none for integers of 64 bits.
func omeType(t volume.Type) (name string, ok bool) {
	switch {
	case t == volume.Float32:
		return "float", true
	case t == volume.Float64:
		return "double", true
	}
	return t.String(), t.Size() < 8
}

// ome returns the description of a TIFF as OME-XML, with the final zero byte that the tag requires. It returns nil if
// OME has no name for the type. Pages are planes, in rising z, time after time.
func ome(a Array) []byte {
	g := a.Grid
	name, ok := omeType(g.Type)
	if !ok {
		return nil
	}
	var o omeXML
	o.Image.ID, o.Image.Name = "Image:0", oneLine(a.Name)
	p := &o.Image.Pixels
	p.ID, p.DimensionOrder, p.Type = "Pixels:0", "XYCZT", name
	p.SizeX, p.SizeY, p.SizeZ, p.SizeC, p.SizeT = g.Size[0], g.Size[1], g.Size[2], g.Channels, max(a.Times, 1)
	p.Interleaved = g.Channels > 1
	p.Channel.ID, p.Channel.SamplesPerPixel = "Channel:0:0", g.Channels
	const unit = string(Nanometre)
	if spacing, origin, calibrated := a.world(Nanometre); calibrated {
		s := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
		p.omeSpacing = omeSpacing{s(spacing[0]), unit, s(spacing[1]), unit, s(spacing[2]), unit}
		p.Plane = &omePlane{X: s(origin[0]), XU: unit, Y: s(origin[1]), YU: unit, Z: s(origin[2]), ZU: unit}
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	if err := xml.NewEncoder(&b).Encode(o); err != nil {
		return nil // cannot happen: all fields can be encoded
	}
	b.WriteByte(0)
	return b.Bytes()
}
