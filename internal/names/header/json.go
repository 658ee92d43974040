package header

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/wkwfs/wkwfs/volume"
)

// Storage describes for volume.json how the voxels are stored.
type Storage struct {
	Mag         volume.Factor // size of a voxel in voxels of mag 1; zero if unknown
	Cube        volume.Vec    // size of a cube file in voxels; zero if there are no cubes
	Compression string        // "raw", "lz4", …; empty if unknown
}

type volumeJSON struct {
	Name        string            `json:"name,omitempty"`
	Category    string            `json:"category,omitempty"`
	Data        string            `json:"data"`
	Dtype       string            `json:"dtype"`
	ByteOrder   string            `json:"byte_order"`
	Order       string            `json:"order"`
	Shape       volume.Vec        `json:"shape"`
	Times       int               `json:"times,omitempty"`
	Channels    int               `json:"channels"`
	Bytes       int64             `json:"bytes"`
	Origin      volume.Vec        `json:"origin"`
	VoxelSize   *[3]float64       `json:"voxel_size"`
	Unit        *string           `json:"unit"`
	Mag         *volume.Factor    `json:"mag,omitempty"`
	BlockShape  *volume.Vec       `json:"block_shape,omitempty"`
	CubeShape   *volume.Vec       `json:"cube_shape,omitempty"`
	Compression string            `json:"compression,omitempty"`
	Numpy       string            `json:"numpy"`
	HeaderUnits map[string]Unit   `json:"header_units,omitempty"`
	NotOffered  map[string]string `json:"not_offered,omitempty"`
}

// VolumeJSON returns volume.json, the description of an array for programs. All triples are x, y, z. origin is in
// voxels of the mag. voxel_size and unit are null if the spacing is unknown. unit is always nm. header_units has the
// unit of the lengths in the headers of each format, by suffix. not_offered has the formats that cannot
// describe the array, by suffix, with the reason. times is the number of volumes of an array of times.
func VolumeJSON(a Array, s Storage) ([]byte, error) {
	if err := a.checkDetached(); err != nil {
		return nil, err
	}
	g := a.Grid
	v := volumeJSON{
		Name: a.Name, Category: a.Category, Data: a.Data,
		Dtype: g.Type.String(), ByteOrder: "little", Order: "F",
		Shape: g.Size, Times: a.Times, Channels: g.Channels, Bytes: a.Bytes(), Origin: g.Origin,
		BlockShape: present(g.Block), CubeShape: present(s.Cube), Mag: present(s.Mag),
		Compression: s.Compression, Numpy: numpyLine(a),
	}
	var err error
	if v.NotOffered, err = notOffered(a); err != nil {
		return nil, err
	}
	if spacing, calibrated := a.spacing(); calibrated {
		unit := string(Nanometre)
		v.VoxelSize, v.Unit = &spacing, &unit
		v.HeaderUnits = headerUnits(a, v.NotOffered)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // "<u2" is more readable than escapes
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("header: volume.json: %w", err)
	}
	return b.Bytes(), nil
}

// numpyLine returns the Python expression that maps the raw file.
func numpyLine(a Array) string {
	g := a.Grid
	shape := fmt.Sprintf("%d, %d, %d", g.Size[0], g.Size[1], g.Size[2])
	if g.Channels > 1 {
		shape = fmt.Sprintf("%d, %s", g.Channels, shape)
	}
	if a.Times > 0 {
		shape = fmt.Sprintf("%s, %d", shape, a.Times)
	}
	return fmt.Sprintf("numpy.memmap(%q, %q, mode=\"r\", shape=(%s), order=\"F\")", a.Data, g.Type.Descr(), shape)
}

// headerUnits returns the units of the formats that have lengths and can describe the array.
func headerUnits(a Array, notOffered map[string]string) map[string]Unit {
	units := map[string]Unit{}
	for _, f := range Formats() {
		if u := f.UnitOf(a); u != "" && notOffered[f.Suffix] == "" {
			units[f.Suffix] = u
		}
	}
	return units
}

// notOffered returns the reason for each format that cannot describe the array.
func notOffered(a Array) (map[string]string, error) {
	reasons := map[string]string{}
	for _, f := range Formats() {
		_, err := f.Layout(a)
		if a.Times > 0 && !f.HasTimes {
			err = &Unrepresentable{f.Name, "no axis of time"}
		}
		var u *Unrepresentable
		switch {
		case errors.As(err, &u):
			reasons[f.Suffix] = u.Reason
		case err != nil:
			return nil, err
		}
	}
	return reasons, nil
}

// present returns nil if v is zero.
func present[T volume.Vec | volume.Factor](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
