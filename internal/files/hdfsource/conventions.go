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

// bigDataViewer shows the layers of a file of BigDataViewer, or returns false if it is none. A view setup is a layer,
// or one for each time.
func (t *tree) bigDataViewer(pieceBytes int) (ok bool) {
	setups, levels := t.viewSetups()
	if len(setups) == 0 {
		return false
	}
	times := t.timesIn("/", "t", 5)
	group := func(time int) string { return fmt.Sprintf("t%05d", time) }
	shown := t.timesWithRoom(times, group, func(int) int { return levels })
	eachTime(t, shown, func(t *tree, time int) (none struct{}) {
		for _, s := range setups {
			if at := path.Join(group(time), s.name); t.exists(at, len(times) > 1) {
				t.show(timeName(s.name, time, len(times)), t.view(s, at, pieceBytes))
			}
		}
		return none
	})
	return true
}

// viewSetup is what all times of a view setup have.
type viewSetup struct {
	name    string
	typed   bool       // integers of 16 bits have a sign if the file says so
	voxel   [3]float64 // in nm; 0 if unknown
	factors []volume.Factor
}

// viewSetups returns the view setups of a file, and the number of their levels.
func (t *tree) viewSetups() (all []viewSetup, levels int) {
	about := t.readSpimData()
	for setup := range maxObjects {
		s := viewSetup{name: fmt.Sprintf("s%02d", setup), voxel: about[setup]}
		o, err := t.file.Lookup(s.name + "/resolutions")
		resolutions, isDataset := o.(*hdf5.Dataset)
		if err != nil || !isDataset {
			break
		}
		s.factors = t.resolutions(resolutions)
		levels += len(s.factors)
		group, err := t.file.Lookup(s.name)
		s.typed = err != nil || text(group, "dataType") != ""
		all = append(all, s)
	}
	return all, levels
}

// view returns a view setup at a time, whose group is at.
func (t *tree) view(s viewSetup, at string, pieceBytes int) *layer {
	l := &layer{source: t.source}
	for level, factor := range s.factors {
		cells := fmt.Sprintf("%s/%d/cells", at, level)
		m, err := t.cells(s, cells, factor, pieceBytes)
		if err != nil {
			t.leaveOut(cells, true, err)
			continue
		}
		l.add(m, factor)
	}
	return l
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
func (t *tree) cells(s viewSetup, at string, factor volume.Factor, pieceBytes int) (*mag, error) {
	o, err := t.file.Lookup(at)
	if err != nil {
		return nil, t.located(err)
	}
	d, ok := o.(*hdf5.Dataset)
	if !ok {
		return nil, fmt.Errorf("%s: expected a dataset, found a group", at)
	}
	var p position
	if s.voxel[0] > 0 {
		p.from = "the XML of BigDataViewer"
	}
	for axis := range 3 {
		p.spacing[axis] = s.voxel[axis] * float64(factor[axis])
	}
	m, err := t.mag(d, axisNames{[]string{"z", "y", "x"}, "BigDataViewer"}, p, pieceBytes)
	if err != nil {
		return nil, err
	}
	if !s.typed && m.values.kind == volume.Int16 {
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

// imaris shows the layers of a file of Imaris, or returns false if it is none: each channel is a layer, or one for each
// time, and each resolution level a mag.
func (t *tree) imaris(pieceBytes int) (ok bool) {
	image, err := t.file.Lookup("DataSetInfo/Image")
	if err != nil {
		return false
	}
	levels, err := t.numbered("DataSet", "ResolutionLevel ", 0)
	if err != nil || len(levels) == 0 {
		return false
	}
	levels = levels[:min(len(levels), maxLevels)]
	finest := fmt.Sprintf("DataSet/ResolutionLevel %d", levels[0])
	times := t.timesIn(finest, "TimePoint ", 0)
	group := func(time int) string { return fmt.Sprintf("TimePoint %d", time) }
	channels := map[int][]int{}
	first := times[:min(len(times), t.maxTimes)]
	for i, found := range eachTime(t, first, func(t *tree, time int) []int {
		at := path.Join(finest, group(time))
		found, err := t.numbered(at, "Channel ", 0)
		if err != nil {
			t.leaveOut(at, true, t.located(err))
		}
		return found
	}) {
		channels[first[i]] = found
	}
	shown := t.timesWithRoom(times, group, func(time int) int { return len(channels[time]) * len(levels) })
	eachTime(t, shown, func(t *tree, time int) (none struct{}) {
		for _, channel := range channels[time] {
			name := timeName(fmt.Sprintf("channel%d", channel), time, len(times))
			at := fmt.Sprintf("%s/Channel %d", group(time), channel)
			t.show(name, t.imarisChannel(image, levels, at, pieceBytes))
		}
		return none
	})
	return len(t.names) > 0 || len(shown) < len(times)
}

// imarisChannel returns a channel at a time, whose group in each level is at.
func (t *tree) imarisChannel(image hdf5.Object, levels []int, at string, pieceBytes int) *layer {
	l := &layer{source: t.source}
	finest := imarisFinest(image)
	for _, level := range levels {
		group := fmt.Sprintf("DataSet/ResolutionLevel %d/%s", level, at)
		o, err := t.file.Lookup(group)
		var m *mag
		if err == nil {
			m, err = t.imarisLevel(o, image, group+"/Data", pieceBytes)
		}
		if err != nil {
			t.leaveOut(group, true, t.located(err))
			continue
		}
		if finest.Size[0] == 0 {
			finest = m.grid
		}
		l.add(m, factorOf(finest, m.grid))
	}
	return l
}

// imarisFinest returns the size of the finest level, which is zero if it is unknown: a damaged level changes no name.
func imarisFinest(image hdf5.Object) (g volume.Grid) {
	for axis, letter := range []string{"X", "Y", "Z"} {
		n, ok := number(image, letter)
		if !ok || n < 1 || n > 1<<40 {
			return volume.Grid{}
		}
		g.Size[axis] = int(n)
	}
	return g
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
