package zarr

import (
	"path"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/volume"
)

// resolutionArray is the array of a resolution, under the name of its mag. err is why it cannot be read.
type resolutionArray struct {
	name    string
	node    *node
	array   *chunked.Array
	options ArrayOptions
	err     error
}

// read reads the metadata of the array.
func (r *resolutionArray) read() {
	if r.err == nil {
		r.array, r.err = r.node.parse()
	}
}

// points returns what the array has on axes besides x, y, z and channels.
func (r *resolutionArray) points() ([]chunked.Point, error) {
	if r.err != nil {
		return nil, r.err
	}
	points, err := r.array.Series(r.options)
	return points, inFile(path.Join(r.node.dir, r.node.file), err)
}

// layersOf returns a layer for each point of the arrays, such as each time, as [chunked.Layer.Series] does.
func layersOf(l chunked.Layer, arrays []resolutionArray) ([]chunked.NamedLayer, error) {
	var all []chunked.Resolution
	for _, r := range arrays {
		open := func(index []int) (volume.Mag, error) {
			o := r.options
			o.Index = index
			return r.node.newMag(r.array, o)
		}
		all = append(all, chunked.Resolution{Name: r.name, List: r.points, Open: open})
	}
	return l.Series(all)
}
