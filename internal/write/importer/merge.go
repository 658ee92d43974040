package importer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/compose/overlay"
	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/write/pyramid"
	"github.com/wkwfs/wkwfs/volume"
)

// Merge is [Update] for the blocks of a volume annotation. Afterwards, mag 1 of the layer is what package overlay shows
// of the annotation over the layer. Coarser mags are made again from it: those of the annotation do not count. name is
// that of the annotation, for errors.
//
// Only cubes with voxels of the annotation are written. Blocks outside of the bounding box of the layer are left out.
func Merge(ctx context.Context, above volume.Layer, name, dir string, o Options) error {
	return replace(ctx, dir, o, func(dir string, o Options) (*update, error) { return planMerge(above, name, dir, o) })
}

// planMerge opens the layer, and checks that the annotation fits.
func planMerge(from volume.Layer, name, dir string, o Options) (*update, error) {
	u := &update{layer: layer{Options: o, dir: filepath.Join(dir, o.Layer), in: &arrayfile.Array{Positioned: true}}}
	for _, step := range []func() error{u.checkName, u.checkComplete, u.openMags, u.setMethod} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	above, err := finestOf(from)
	if err == nil {
		err = overlay.Compatible(u.finest, above, "layer "+u.Layer, name)
	}
	if err == nil {
		err = u.setBlocks(above)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return u, nil
}

// finestOf returns mag 1 of an annotation.
func finestOf(l volume.Layer) (volume.Mag, error) {
	names, err := l.Mags()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		m, err := l.Mag(name)
		if err != nil {
			return nil, err
		}
		if m.About().Factor == (volume.Factor{1, 1, 1}) {
			return m, nil
		}
	}
	return nil, fmt.Errorf("expected blocks in mag 1, from which coarser mags are made, found mags %v", names)
}

// errNoBlocks is the error of an annotation that changes nothing.
var errNoBlocks = errors.New("it has no block in the bounding box of the layer")

// setBlocks sets what is written: the blocks of the annotation.
func (u *update) setBlocks(above volume.Mag) error {
	merged := overlay.NewMag(u.finest, above)
	blocks, err := merged.Over(u.bounds)
	if err != nil {
		return err
	}
	if len(blocks) == 0 {
		return errNoBlocks
	}
	all, fingerprint, err := versionsOf(above)
	if err != nil {
		return err
	}
	if all > len(blocks) {
		u.doubt = fmt.Sprintf(
			"%d of %d blocks of the annotation are outside of the box %v of the layer: they are left out",
			all-len(blocks), all, u.bounds)
	}
	u.boxes = byCubes(blocks, u.mags[0].Header.Grid().Size)
	for _, box := range u.boxes {
		u.box = u.box.Union(box)
	}
	u.in.Grid = u.mags[0].Header.Grid()
	u.in.Grid.Origin, u.in.Grid.Size = u.box.Min, u.box.Size()
	u.fingerprint = fingerprint
	u.unchanged = func() error {
		if _, now, err := versionsOf(above); err != nil || !slices.Equal(now, fingerprint) {
			return errors.Join(err, fmt.Errorf("the annotation: %w", volume.ErrChanged))
		}
		return nil
	}
	u.verify = func(ctx context.Context) error { return readAll(ctx, above, blocks, u.Jobs) }
	u.input = func(box volume.Box) pyramid.Source { return ofMag{merged, box.Min} }
	return nil
}

// readAll reads all blocks of an annotation: after the first cube is written, a damaged one would leave a layer that is
// updated in part.
func readAll(ctx context.Context, above volume.Mag, blocks []volume.Box, jobs int) error {
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(jobs)
	for _, b := range blocks {
		if running.Err() != nil {
			break
		}
		group.Go(func() error {
			_, err := volume.ReadBox(running, above, b)
			return err
		})
	}
	return cmp.Or(group.Wait(), ctx.Err())
}

// byCubes returns boxes that have all voxels of blocks, and voxels of no cube that has none of these. Cubes next to
// each other share a box, so that a cube of a coarser mag is written once for them.
func byCubes(blocks []volume.Box, cube volume.Vec) (boxes []volume.Box) {
	hulls := map[volume.Vec]volume.Box{}
	var cubes []volume.Vec
	for _, b := range blocks {
		for c := range b.Div(cube).All() {
			hull, known := hulls[c]
			if !known {
				cubes = append(cubes, c)
			}
			hulls[c] = hull.Union(b.Intersect(c.BoxOfOne().Mul(cube)))
		}
	}
	for _, box := range lattice.Boxes(cubes) {
		var hull volume.Box
		for c := range box.All() {
			hull = hull.Union(hulls[c])
		}
		boxes = append(boxes, hull)
	}
	return boxes
}

// versionsOf returns the number of blocks of an annotation, and a hash of their positions and versions.
func versionsOf(above volume.Mag) (n int, sum []byte, err error) {
	var cubes []volume.Vec
	for c, err := range volume.AllCubes(above) {
		if err != nil {
			return 0, nil, err
		}
		cubes = append(cubes, c)
	}
	slices.SortFunc(cubes, func(a, b volume.Vec) int { return slices.Compare(a[:], b[:]) })
	h := sha256.New()
	for _, c := range cubes {
		info, err := above.StatCubes(c[2], c[1], c[0])
		if err != nil {
			return 0, nil, err
		}
		fmt.Fprintln(h, c, volume.VersionOf(info))
	}
	return len(cubes), h.Sum(nil), nil
}

// cubes returns the cubes of a mag with voxels that depend on the boxes.
func (u *update) cubes(m pyramid.Mag) map[volume.Vec]bool {
	all := map[volume.Vec]bool{}
	for _, box := range u.boxes {
		for c := range box.Div(volume.Vec(m.Factor)).Div(m.Header.Grid().Size).All() {
			all[c] = true
		}
	}
	return all
}

// ofMag is the voxels of a mag from a position on. It implements pyramid.Source.
type ofMag struct {
	volume.Mag
	at volume.Vec
}

// Read implements pyramid.Source.
func (o ofMag) Read(ctx context.Context, box volume.Box, dst []byte) error {
	voxels, err := volume.ReadBox(ctx, o.Mag, box.Add(o.at))
	copy(dst, voxels)
	return err
}

// Sequential implements pyramid.Source.
func (o ofMag) Sequential() bool { return false }

// WholePlanes implements pyramid.Source.
func (o ofMag) WholePlanes() bool { return false }
