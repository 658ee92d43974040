package annotations

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/files/annotation"
	"github.com/wkwfs/wkwfs/internal/files/nml"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// addFiles adds the files of a volume to its archive.
func (p *packed) addFiles(ctx context.Context, z *zip.Writer, v *annotation.Layer, o Options) error {
	mags, err := magsOf(v)
	if err != nil {
		return err
	}
	for _, m := range mags {
		if err := p.addMag(ctx, z, v, m, o); err != nil {
			return fmt.Errorf("mag %s: %w", m.name, err)
		}
	}
	if len(mags) > 0 && mags[0].where == nil {
		return addZarr(ctx, z, v, o)
	}
	return nil
}

// mag is a mag of a volume.
type mag struct {
	volume.Mag
	name  string
	where webknossos.Location // nil: it is not WKW
	cubes []volume.Vec        // z slowest
}

// magsOf returns the mags of a volume, with their blocks.
func magsOf(v *annotation.Layer) (all []mag, err error) {
	names, err := v.Data.Mags()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		m := mag{name: name}
		if m.Mag, err = v.Data.Mag(name); err != nil {
			return nil, fmt.Errorf("mag %s: %w", name, err)
		}
		m.where, _ = m.Mag.(webknossos.Location)
		for c, err := range volume.AllCubes(m.Mag) {
			if err != nil {
				return nil, fmt.Errorf("mag %s: %w", name, err)
			}
			m.cubes = append(m.cubes, c)
		}
		slices.SortFunc(m.cubes, func(a, b volume.Vec) int {
			return cmp.Or(cmp.Compare(a[2], b[2]), cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0]))
		})
		all = append(all, m)
	}
	return all, nil
}

// cubeName returns the name of a cube of WKW in its mag.
func cubeName(c volume.Vec) string { return fmt.Sprintf("z%d/y%d/x%d.wkw", c[2], c[1], c[0]) }

const headerName = "header.wkw"

// addMag decodes all blocks of a mag. If it is WKW, it adds the files.
func (p *packed) addMag(ctx context.Context, z *zip.Writer, v *annotation.Layer, m mag, o Options) error {
	if m.where != nil {
		if err := addHeader(z, v, m); err != nil {
			return err
		}
	}
	for _, c := range m.cubes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.look(ctx, m, c); err != nil {
			return err
		}
		p.blocks++
		if m.where == nil {
			continue
		}
		fsys, _ := v.Files()
		b, err := readSmall(fsys, path.Join(m.where.Dir(), cubeName(c)))
		if err != nil {
			return err
		}
		if err := add(z, path.Join(path.Base(m.where.Dir()), cubeName(c)), b); err != nil {
			return err
		}
		o.count(len(b))
	}
	return nil
}

func (o Options) count(n int) {
	if o.Block != nil {
		o.Block(int64(n))
	}
}

// addHeader adds the header of a mag, or makes one of its geometry.
func addHeader(z *zip.Writer, v *annotation.Layer, m mag) error {
	fsys, _ := v.Files()
	b, err := readSmall(fsys, path.Join(m.where.Dir(), headerName))
	if errors.Is(err, fs.ErrNotExist) {
		var h wkw.Header
		if h, err = m.where.Header(); err == nil {
			h.DataOffset = 0
			b, err = h.MarshalBinary()
		}
	}
	if err != nil {
		return err
	}
	return add(z, path.Join(path.Base(m.where.Dir()), headerName), b)
}

// look decodes the only block of a cube.
func (p *packed) look(ctx context.Context, m mag, c volume.Vec) error {
	f, err := m.OpenCube(c)
	if err != nil {
		return err
	}
	defer f.Close()
	g := f.Grid()
	if n := g.Blocks(); m.where != nil && n != volume.Cube(1) {
		return fmt.Errorf("%s: expected cubes of one block, which WEBKNOSSOS takes, found %v blocks", cubeName(c), n)
	}
	voxels, err := volume.ReadBlock(ctx, f, volume.Vec{})
	if err == nil {
		p.largest = max(p.largest, nml.LargestID(voxels, g.Type))
	}
	return err
}

// zarrFile matches the last element of the names of files that a volume in Zarr is read from.
var zarrFile = regexp.MustCompile(`^(zarr\.json|(c\.)?[0-9]+(\.[0-9]+)*)$`)

// addZarr adds the files of a volume in Zarr.
func addZarr(ctx context.Context, z *zip.Writer, v *annotation.Layer, o Options) error {
	fsys, top := v.Files()
	return fs.WalkDir(fsys, top, func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		below := strings.TrimPrefix(strings.TrimPrefix(name, top), "/")
		if top == "." {
			below = name
		}
		if below != webknossos.PropertiesFile && !zarrFile.MatchString(path.Base(name)) {
			return nil // of another program, such as .DS_Store
		}
		b, err := readSmall(fsys, name)
		if err != nil {
			return err
		}
		o.count(len(b))
		return add(z, below, b)
	})
}
