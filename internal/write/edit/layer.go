package edit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/compose/overlay"
	"github.com/wkwfs/wkwfs/internal/files/annotation"
	"github.com/wkwfs/wkwfs/internal/read/writable"
	"github.com/wkwfs/wkwfs/internal/small/lockfile"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// ErrBusy is the error of [Open] if another process writes into the directory.
var ErrBusy = lockfile.ErrBusy

// ErrCategory is the error of [Open] if the layer is an image.
var ErrCategory = errors.New("expected a segmentation: edits are kept as an annotation, which WEBKNOSSOS has over " +
	"segmentations only")

// Options says what is edited, and with what means.
type Options struct {
	Dataset string       // its name, for the NML file
	Layer   string       // its name
	Cache   *cache.Cache // of the blocks of the layer
	Memory  int64        // bytes of written blocks, about; at least 16 MiB
	Log     *slog.Logger
}

// Layer is a layer that can be written. Its mags are [writable.Mag].
type Layer struct {
	*overlay.Layer
	memory *memory
	lock   *lockfile.Lock
	log    *slog.Logger
	mags   map[string]*Voxels // by their names

	mu     sync.Mutex
	opened map[string]*Mag
}

// Open opens the directory, and makes it if it does not exist. It fails with [ErrBusy] if another process writes there.
// Close makes durable what was written.
func Open(ctx context.Context, dir string, below volume.Layer, o Options) (*Layer, error) {
	l, err := open(ctx, dir, below, o, osDisk{})
	if err != nil && !errors.Is(err, ErrBusy) {
		err = fmt.Errorf("edits of layer %s in %s: %w", o.Layer, dir, err)
	}
	return l, err
}

func open(ctx context.Context, dir string, below volume.Layer, o Options, d disk) (*Layer, error) {
	mags, err := editable(below)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	lock, err := lockfile.Take(ctx, filepath.Join(dir, annotation.LockFile), lockfile.Options{})
	if err != nil {
		return nil, err
	}
	l := &Layer{memory: newMemory(o.Memory), lock: lock, log: o.Log, mags: map[string]*Voxels{},
		opened: map[string]*Mag{}}
	if err := l.open(dir, below, mags, o, d); err != nil {
		lock.Release()
		return nil, err
	}
	return l, nil
}

// namedMag is a mag and its name.
type namedMag struct {
	volume.Mag
	name string
}

// editable returns the mags of a layer, or why it cannot be written.
func editable(below volume.Layer) (all []namedMag, err error) {
	names, err := below.Mags()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		m, err := below.Mag(name)
		if err != nil {
			return nil, err
		}
		if err := canEdit(m); err != nil {
			return nil, fmt.Errorf("mag %s: %w", name, err)
		}
		all = append(all, namedMag{m, name})
	}
	return all, nil
}

// open opens the mags of the layer.
func (l *Layer) open(dir string, below volume.Layer, mags []namedMag, o Options, d disk) error {
	var spacing [3]float64
	for _, m := range mags {
		if spacing = spacingOf(m); spacing != ([3]float64{}) {
			break
		}
	}
	data, file, err := prepare(dir, o.Dataset, o.Layer, spacing)
	if err != nil {
		return err
	}
	above := &written{dir: data}
	largest := newLargest(d, file, o.Layer)
	for _, m := range mags {
		v, err := openVoxels(data, m.Mag, o.Cache, l.memory, largest)
		if err != nil {
			return err
		}
		l.mags[m.name] = v
		above.mags = append(above.mags, v)
	}
	if err := syncAll(d, dir, data, above.mags); err != nil {
		return err
	}
	l.Layer, err = overlay.NewLayer(below, above, o.Layer, "the edits")
	return err
}

// spacingOf returns the size of a voxel of mag 1 in nm, or 0.
func spacingOf(m volume.Mag) (nm [3]float64) {
	g, err := m.CubeGrid()
	factor := m.About().Factor
	if err != nil || factor == (volume.Factor{}) {
		return nm
	}
	for axis := range nm {
		nm[axis] = g.Spacing[axis] / float64(factor[axis])
	}
	return nm
}

// canEdit returns why a mag cannot be written.
func canEdit(m volume.Mag) error {
	g, err := m.CubeGrid()
	if err != nil {
		return err
	}
	bounds, err := m.Bounds()
	if err != nil {
		return err
	}
	about := m.About()
	if category := about.Category; category != "" && category != "segmentation" {
		return fmt.Errorf("%w: found a layer of category %s", ErrCategory, category)
	}
	if about.Factor == (volume.Factor{}) {
		return fmt.Errorf("expected mags with known factors, found one without")
	}
	if bounds.Min != bounds.Min.Max(volume.Vec{}) {
		return fmt.Errorf("bounding box %v: annotations have no voxels before 0,0,0", bounds)
	}
	if !g.Type.IsInteger() {
		return fmt.Errorf("voxels of %v: annotations have integers", g.Type)
	}
	_, err = headerOf(g).MarshalBinary()
	return err
}

// Mag returns a mag that can be written.
func (l *Layer) Mag(name string) (volume.Mag, error) {
	m, err := l.Layer.Mag(name)
	if err != nil {
		return nil, err
	}
	merged, ok := m.(*overlay.Mag)
	v := l.mags[name]
	if !ok || v == nil {
		return m, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.opened[name]
	if e == nil || e.Mag != merged {
		e = &Mag{merged, v}
		l.opened[name] = e
	}
	return e, nil
}

// Close makes durable what was written, and lets other processes write.
func (l *Layer) Close() error {
	defer l.lock.Release()
	var all []error
	for name, v := range l.mags {
		if err := v.syncAll(context.Background()); err != nil {
			all = append(all, fmt.Errorf("mag %s: %w", name, err))
		}
	}
	return errors.Join(all...)
}

// Mag is a mag that can be written.
type Mag struct {
	*overlay.Mag
	voxels *Voxels
}

var (
	_ writable.Mag     = (*Mag)(nil)
	_ vfs.Generational = (*Mag)(nil)
)

// Under implements [writable.Mag].
func (m *Mag) Under() volume.Mag { return m.Mag.Mag }

// Voxels implements [writable.Mag].
func (m *Mag) Voxels() writable.Voxels { return m.voxels }
