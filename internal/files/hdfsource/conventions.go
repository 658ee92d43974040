package hdfsource

import (
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/volume"
)

// bigDataViewer returns the layers of a file of BigDataViewer, or false if it is none. A view setup is a layer. Of
// several points in time, the first one is shown.
func (t *tree) bigDataViewer(pieceBytes int) (names []string, layers map[string]*layer, ok bool) {
	layers = map[string]*layer{}
	about := t.readSpimData()
	for setup := range maxObjects {
		name := fmt.Sprintf("s%02d", setup)
		o, err := t.file.Lookup(name + "/resolutions")
		resolutions, isDataset := o.(*hdf5.Dataset)
		if err != nil || !isDataset {
			break
		}
		ok = true
		l := &layer{source: t.source}
		for level, factor := range t.resolutions(resolutions) {
			at := fmt.Sprintf("t00000/%s/%d/cells", name, level)
			m, err := t.cells(name, at, about[setup], factor, pieceBytes)
			if err != nil {
				t.leaveOut(at, true, err)
				continue
			}
			l.add(m, factor)
		}
		if len(l.mags) > 0 {
			names, layers[name] = append(names, name), l
		}
	}
	for time := 1; ok; time++ {
		at := fmt.Sprintf("t%05d", time)
		if _, err := t.file.Lookup(at); err != nil {
			break
		}
		t.leaveOut(at, false, fmt.Errorf("a file with several points in time shows the first one, t00000"))
	}
	return names, layers, ok
}

// resolutions returns the factors of the levels of a view setup.
func (t *tree) resolutions(d *hdf5.Dataset) (factors []volume.Factor) {
	v, err := valuesOf(d.Type())
	b, readErr := d.ReadAll(1 << 16)
	if shape := d.Shape(); err != nil || readErr != nil || len(shape) != 2 || shape[1] != 3 {
		t.leaveOut(d.Path(), true, fmt.Errorf("resolutions: expected three numbers a level, found the shape %v",
			d.Shape()))
		return nil
	}
	for ; len(b) >= 3*v.stored; b = b[3*v.stored:] {
		f := volume.Factor{1, 1, 1}
		for axis := range 3 {
			if n := v.float(b[axis*v.stored:]); n >= 1 && n < 1<<20 {
				f[axis] = int(n + 0.5)
			}
		}
		factors = append(factors, f)
	}
	return factors
}

// cells returns a level of a view setup. Without an attribute dataType, integers of 16 bits have no sign, whatever the
// file says.
func (t *tree) cells(setup, at string, voxel [3]float64, factor volume.Factor, pieceBytes int) (*mag, error) {
	o, err := t.file.Lookup(at)
	if err != nil {
		return nil, t.located(err)
	}
	d, ok := o.(*hdf5.Dataset)
	if !ok {
		return nil, fmt.Errorf("%s: expected a dataset, found a group", at)
	}
	var p position
	if voxel[0] > 0 {
		p.from = "the XML of BigDataViewer"
	}
	for axis := range 3 {
		p.spacing[axis] = voxel[axis] * float64(factor[axis])
	}
	m, err := t.mag(d, axisNames{[]string{"z", "y", "x"}, "BigDataViewer"}, p, pieceBytes)
	if err != nil {
		return nil, err
	}
	if group, err := t.file.Lookup(setup); err == nil && text(group, "dataType") == "" &&
		m.values.kind == volume.Int16 {
		m.values.kind, m.grid.Type = volume.Uint16, volume.Uint16
		m.unsigned = true
	}
	return m, nil
}

// spimData is the part of the XML beside a file of BigDataViewer that says how large voxels are.
type spimData struct {
	Setups []struct {
		ID    int `xml:"id"`
		Voxel struct {
			Unit string `xml:"unit"`
			Size string `xml:"size"`
		} `xml:"voxelSize"`
	} `xml:"SequenceDescription>ViewSetups>ViewSetup"`
}

// maxXML is the largest XML that is read, in bytes.
const maxXML = 16 << 20

// readSpimData returns the sizes of voxels in nm, by view setup. Without the XML there are none.
func (t *tree) readSpimData() map[int][3]float64 {
	sizes := map[int][3]float64{}
	f, err := t.fsys.Open(strings.TrimSuffix(t.name, path.Ext(t.name)) + ".xml")
	if err != nil {
		return sizes
	}
	defer f.Close() // read-only: nothing can be lost
	b, err := io.ReadAll(io.LimitReader(f, maxXML))
	var data spimData
	if err != nil || xml.Unmarshal(b, &data) != nil {
		return sizes
	}
	for _, s := range data.Setups {
		var size [3]float64
		for axis, field := range strings.Fields(s.Voxel.Size) {
			if v, err := strconv.ParseFloat(field, 64); err == nil && axis < 3 && v > 0 && v < 1e12 {
				size[axis] = v * unit(s.Voxel.Unit, 1e3)
			}
		}
		sizes[s.ID] = size
	}
	return sizes
}

// imaris returns the layers of a file of Imaris, or false if it is none: each channel is a layer, each resolution level
// a mag.
func (t *tree) imaris(pieceBytes int) (names []string, layers map[string]*layer, ok bool) {
	layers = map[string]*layer{}
	image, err := t.file.Lookup("DataSetInfo/Image")
	if err != nil {
		return nil, nil, false
	}
	for channel := range maxObjects {
		l := &layer{source: t.source}
		for level := range maxLevels {
			group := fmt.Sprintf("DataSet/ResolutionLevel %d/TimePoint 0/Channel %d", level, channel)
			o, err := t.file.Lookup(group)
			if err != nil {
				break
			}
			m, err := t.imarisLevel(o, image, group+"/Data", pieceBytes)
			if err != nil {
				t.leaveOut(group, true, err)
				continue
			}
			factor := volume.Factor{1, 1, 1}
			if len(l.mags) > 0 {
				factor = factorOf(l.mags[0].grid, m.grid)
			}
			l.add(m, factor)
		}
		if len(l.mags) == 0 {
			break
		}
		name := fmt.Sprintf("channel%d", channel)
		names, layers[name] = append(names, name), l
	}
	if _, err := t.file.Lookup("DataSet/ResolutionLevel 0/TimePoint 1"); err == nil {
		t.leaveOut("TimePoint 1", false,
			fmt.Errorf("a file with several points in time shows the first one, TimePoint 0"))
	}
	return names, layers, len(names) > 0
}

// imarisLevel returns the voxels of a channel at a level. Data have whole chunks; what is beyond ImageSizeX, Y and Z is
// padding.
func (t *tree) imarisLevel(channel, image hdf5.Object, at string, pieceBytes int) (*mag, error) {
	o, err := t.file.Lookup(at)
	if err != nil {
		return nil, t.located(err)
	}
	d, ok := o.(*hdf5.Dataset)
	if !ok {
		return nil, fmt.Errorf("%s: expected a dataset, found a group", at)
	}
	m, err := t.mag(d, axisNames{[]string{"z", "y", "x"}, "Imaris"}, position{from: "Imaris"}, pieceBytes)
	if err != nil {
		return nil, err
	}
	for axis, letter := range []string{"X", "Y", "Z"} {
		n, ok := number(channel, "ImageSize"+letter)
		if !ok || n < 1 || n > float64(m.grid.Size[axis]) {
			return nil, fmt.Errorf("%s: ImageSize%s: expected 1 to %d, found %q", at, letter, m.grid.Size[axis],
				text(channel, "ImageSize"+letter))
		}
		m.grid.Size[axis] = int(n)
		low, okLow := number(image, fmt.Sprintf("ExtMin%d", axis))
		high, okHigh := number(image, fmt.Sprintf("ExtMax%d", axis))
		if size := (high - low) * unit(text(image, "Unit"), 1e3) / n; okLow && okHigh && size > 0 && size < 1e15 {
			m.grid.Spacing[axis] = size
		}
	}
	return m, nil
}
