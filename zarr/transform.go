package zarr

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
)

// transformation is a scale or a translation, with a number for each axis.
type transformation struct {
	Type        string
	Scale       []float64
	Translation []float64
}

// storedTransformation is an element of "coordinateTransformations". Versions before 0.6 have neither an output nor
// sequences.
type storedTransformation struct {
	transformation
	Output          systemName
	Transformations json.RawMessage // of a sequence
}

// systemName is the name of a coordinate system. Drafts of version 0.6 have only the text.
type systemName string

func (n *systemName) UnmarshalJSON(b []byte) error {
	var name struct{ Name string }
	if err := json.Unmarshal(b, &name); err == nil {
		*n = systemName(name.Name)
		return nil
	}
	return json.Unmarshal(b, (*string)(n))
}

const transformationsMember = "coordinateTransformations"

// transformations parses the member "coordinateTransformations". It returns the scales and translations in their order,
// and the coordinate system that the first element leads to.
func transformations(o object) (steps []transformation, output string, err error) {
	const member = transformationsMember
	list, err := jsonlimit.List[storedTransformation](orNull(o[member]), maxTransforms, "transformations")
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", member, err)
	}
	for _, t := range list {
		if output == "" {
			output = string(t.Output)
		}
		inner := []storedTransformation{t}
		if t.Type == "sequence" {
			if inner, err = jsonlimit.List[storedTransformation](orNull(t.Transformations), maxTransforms,
				"transformations"); err != nil {
				return nil, "", fmt.Errorf("%s: sequence: %w", member, err)
			}
		}
		for _, t := range inner {
			switch t.Type {
			case "identity":
			case "scale", "translation":
				steps = append(steps, t.transformation)
			default:
				return nil, "", unsupported(member, "identity, scale, translation, or a sequence of them",
					fmt.Sprintf("%q", jsonlimit.Abbreviate(t.Type)))
			}
		}
	}
	return steps, output, nil
}

// checkTransformations fails if a scale or a translation does not have a number for each axis, or if a scale makes
// voxels of no size. Some refer to a file that has the numbers.
func (m *multiscale) checkTransformations() error {
	if m.axes == nil {
		return nil // of a version that has neither
	}
	all := m.outer
	for _, r := range m.resolutions {
		all = append(all[:len(all):len(all)], r.transformations...)
	}
	for _, t := range all {
		if found := len(t.Scale) + len(t.Translation); found != len(m.axes) {
			return unsupported(transformationsMember, fmt.Sprintf("a %s with %d numbers, one for each axis", t.Type,
				len(m.axes)), fmt.Sprint(found))
		}
		for i, n := range t.Scale {
			if name := strings.ToLower(m.axes[i].Name); n == 0 && slices.Contains([]string{"x", "y", "z"}, name) {
				return fmt.Errorf("%s: scale: expected a size of voxels on axis %s, found 0", transformationsMember,
					name)
			}
		}
	}
	return nil
}

// sort sorts the resolutions by the size of their voxels, finest first, as the specification demands and some writers
// do not. Those without transformations stay in their order.
func (m *multiscale) sort() {
	if slices.ContainsFunc(m.resolutions, func(r resolution) bool { return !r.isTransformed }) {
		return
	}
	size := func(r resolution) float64 {
		s := m.transform(r).Scale
		return math.Abs(s[0] * s[1] * s[2])
	}
	slices.SortStableFunc(m.resolutions, func(a, b resolution) int { return cmp.Compare(size(a), size(b)) })
}

// systemAxes returns the axes of a coordinate system of an image (OME-Zarr 0.6, "coordinateSystems").
func systemAxes(image object, name string) ([]axis, error) {
	systems, err := jsonlimit.List[object](orNull(image["coordinateSystems"]), maxTransforms, "coordinate systems")
	if err != nil {
		return nil, fmt.Errorf("coordinateSystems: %w", err)
	}
	for _, s := range systems {
		if found, err := text(s, "name"); err != nil || found != name {
			continue
		}
		axes, err := jsonlimit.List[axis](orNull(s["axes"]), maxRank, "axes")
		if err != nil {
			err = fmt.Errorf("coordinateSystems: axes: %w", err)
		}
		return axes, err
	}
	return nil, fmt.Errorf("coordinateSystems: expected one named %q, the output of the first resolution, found none",
		jsonlimit.Abbreviate(name))
}

// transform returns where the voxels of a resolution are.
func (m *multiscale) transform(r resolution) (t chunked.Transform) {
	names := m.axisNames()
	for i, name := range []string{"x", "y", "z"} {
		at := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
		t.Scale[i] = 1
		if at < 0 {
			continue
		}
		if r.isTransformed || len(m.outer) > 0 { // else nothing has a unit
			t.Unit[i] = chunked.Nanometres(m.axes[at].Unit)
		}
		for _, step := range slices.Concat(r.transformations, m.outer) {
			if at < len(step.Scale) && step.Type == "scale" {
				t.Scale[i] *= step.Scale[at]
				t.Translation[i] *= step.Scale[at]
			}
			if at < len(step.Translation) && step.Type == "translation" {
				t.Translation[i] += step.Translation[at]
			}
		}
	}
	return t
}
