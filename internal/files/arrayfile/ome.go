package arrayfile

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"strings"
)

// omeXML is the part of OME-XML that says where planes are: "OME-TIFF specification", 6.
type omeXML struct {
	Images []struct {
		Pixels omePixels
	} `xml:"Image"`
}

type omePixels struct {
	Order  string  `xml:"DimensionOrder,attr"`
	SizeZ  int     `xml:",attr"`
	SizeC  int     `xml:",attr"`
	SizeT  int     `xml:",attr"`
	X      float64 `xml:"PhysicalSizeX,attr"`
	Y      float64 `xml:"PhysicalSizeY,attr"`
	Z      float64 `xml:"PhysicalSizeZ,attr"`
	UnitX  string  `xml:"PhysicalSizeXUnit,attr"`
	UnitY  string  `xml:"PhysicalSizeYUnit,attr"`
	UnitZ  string  `xml:"PhysicalSizeZUnit,attr"`
	Pieces []struct {
		IFD    *int `xml:",attr"`
		FirstZ int  `xml:",attr"`
		FirstC int  `xml:",attr"`
		FirstT int  `xml:",attr"`
		UUID   *struct {
			FileName string `xml:",attr"`
		}
	} `xml:"TiffData"`
}

func isOME(description string) bool {
	return strings.Contains(description[:min(len(description), 1<<12)], "<OME")
}

// arrangeOME returns the planes of an OME-TIFF. It must have one image in one file.
func (a *Array) arrangeOME(d *tiffDirectory, description string, pages []plane) ([]plane, error) {
	var all omeXML
	if err := xml.Unmarshal([]byte(description), &all); err != nil {
		return nil, d.bad("OME-XML", d.at, "XML", err)
	}
	if len(all.Images) != 1 {
		return nil, d.bad("OME-XML", d.at, "one image", len(all.Images))
	}
	p := all.Images[0].Pixels
	for axis, size := range [3]float64{p.X, p.Y, p.Z} {
		unit := cmp.Or([...]string{p.UnitX, p.UnitY, p.UnitZ}[axis], "um") // the default of the schema
		a.Grid.Spacing[axis] = validSpacing(size * unitOf(unit))
	}
	channels := p.SizeC
	if samples := pages[0].shape().Channels; samples > 1 && channels == samples {
		channels = 1 // they are the samples of a pixel
	}
	fastest := strings.HasPrefix(p.Order, "XYC")
	switch {
	case p.SizeT < 1 || p.SizeT > maxTimes || p.SizeT > 1 && !strings.HasSuffix(p.Order, "T"):
		return nil, d.bad("SizeT", d.at, "one point in time, or all planes of a time together", p.SizeT)
	case channels < 1 || p.SizeZ < 1 || channels > len(pages) || len(pages)%(channels*p.SizeT) != 0 || p.SizeZ != len(pages)/channels/p.SizeT:
		return nil, d.bad("OME-XML", d.at, fmt.Sprintf("all of %d planes of %d channels in this file", p.SizeZ, p.SizeC), fmt.Sprintf("%d pages", len(pages)))
	}
	for _, t := range p.Pieces {
		page := t.FirstC*p.SizeZ + t.FirstZ
		if fastest {
			page = t.FirstZ*channels + t.FirstC
		}
		page += t.FirstT * p.SizeZ * channels
		if t.IFD != nil && *t.IFD != page {
			return nil, d.bad("TiffData", d.at, fmt.Sprintf("page %d for plane %d of channel %d", page, t.FirstZ, t.FirstC), *t.IFD)
		}
	}
	return a.withTimes(d, pages, p.SizeT, channels, fastest)
}
