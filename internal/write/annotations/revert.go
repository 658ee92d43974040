package annotations

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/files/annotation"
	"github.com/wkwfs/wkwfs/internal/small/atomicfile"
	"github.com/wkwfs/wkwfs/internal/small/lockfile"
	"github.com/wkwfs/wkwfs/volume"
)

// Selection says which blocks are reverted.
type Selection struct {
	Box    volume.Box // in voxels of the mag, or of mag 1 if Mag is empty
	Volume string     // empty: all
	Mag    string     // empty: all
	Round  bool       // also blocks that are in the box in part
}

// Blocks are blocks of a mag.
type Blocks struct {
	Volume, Mag string
	N           int
	Boxes       []volume.Box // that have their voxels, in voxels of the mag

	files []string // in the directory
}

// PartialError is the error for blocks that are in the box in part.
type PartialError struct{ Blocks []Blocks }

func (e *PartialError) Error() string {
	b := e.Blocks[0]
	return fmt.Sprintf("volume %s, mag %s: %d blocks are in the box in part, such as %v: a block is removed as a whole",
		b.Volume, b.Mag, b.N, b.Boxes[0])
}

// ErrNoSuch is the error of a Selection that names a volume or a mag that the annotation does not have.
var ErrNoSuch = errors.New("not in the annotation")

// Revert removes blocks of an annotation in a directory. There, the layer below is shown again. It calls found with
// what it will remove, before it removes anything. With dry, it removes nothing. If a block is in the box in part, the
// error is a [PartialError], and nothing is removed, unless the Selection rounds. If another process writes to the
// directory, the error is [lockfile.ErrBusy].
func Revert(ctx context.Context, dir string, a *annotation.Dataset, s Selection, dry bool,
	found func([]Blocks) error) error {
	if !dry {
		lock, err := lockfile.Take(ctx, filepath.Join(dir, annotation.LockFile), lockfile.Options{})
		if err != nil {
			return err
		}
		defer lock.Release()
	}
	all, err := s.find(a)
	if err != nil {
		return err
	}
	if err := found(all); err != nil || dry {
		return err
	}
	for _, b := range all {
		if err := b.remove(ctx, dir); err != nil {
			return fmt.Errorf("volume %s, mag %s: not all blocks are removed: %w", b.Volume, b.Mag, err)
		}
	}
	return nil
}

// find finds the blocks.
func (s Selection) find(a *annotation.Dataset) (whole []Blocks, err error) {
	var partial []Blocks
	known := false
	for _, v := range a.Volumes {
		if s.Volume != "" && s.Volume != v.As {
			continue
		}
		known = true
		if v.Err != nil {
			return nil, fmt.Errorf("volume %s: %w", v.As, v.Err)
		}
		if !v.Unpacked() {
			return nil, fmt.Errorf("volume %s: its blocks are in an archive: unpack it first", v.As)
		}
		in, cut, err := s.findIn(v)
		if err != nil {
			return nil, fmt.Errorf("volume %s: %w", v.As, err)
		}
		whole, partial = append(whole, in...), append(partial, cut...)
	}
	if !known {
		return nil, fmt.Errorf("volume %s: %w", s.Volume, ErrNoSuch)
	}
	if len(partial) > 0 && !s.Round {
		return nil, &PartialError{partial}
	}
	return whole, nil
}

// findIn finds the blocks of a volume that are in the box, with those in part if s rounds, and the latter.
func (s Selection) findIn(v *annotation.Layer) (in, cut []Blocks, err error) {
	mags, err := magsOf(v)
	if err != nil {
		return nil, nil, err
	}
	if s.Mag != "" && !slices.ContainsFunc(mags, func(m mag) bool { return m.name == s.Mag }) {
		return nil, nil, fmt.Errorf("mag %s: %w", s.Mag, ErrNoSuch)
	}
	for _, m := range mags {
		if s.Mag != "" && s.Mag != m.name {
			continue
		}
		if m.where == nil {
			return nil, nil, fmt.Errorf("mag %s: expected blocks of WKW, found another format", m.name)
		}
		g, err := m.CubeGrid()
		if err != nil {
			return nil, nil, err
		}
		factor := volume.Vec{1, 1, 1}
		if s.Mag == "" {
			factor = volume.Vec(m.About().Factor)
		}
		var inBox, partly []volume.Vec
		for _, c := range m.cubes {
			box := g.CubeBox(c).Mul(factor)
			switch common := box.Intersect(s.Box); {
			case common.Empty():
				continue
			case common != box:
				if partly = append(partly, c); !s.Round {
					continue
				}
			}
			inBox = append(inBox, c)
		}
		in, cut = appendBlocks(in, v, m, g, inBox), appendBlocks(cut, v, m, g, partly)
	}
	return in, cut, nil
}

// appendBlocks appends the blocks of a mag, if there are some.
func appendBlocks(to []Blocks, v *annotation.Layer, m mag, g volume.Grid, cubes []volume.Vec) []Blocks {
	if len(cubes) == 0 {
		return to
	}
	b := Blocks{Volume: v.As, Mag: m.name, N: len(cubes)}
	for _, c := range cubes {
		b.files = append(b.files, filepath.FromSlash(m.where.Dir()+"/"+cubeName(c)))
	}
	for _, box := range lattice.Boxes(cubes) {
		b.Boxes = append(b.Boxes, box.Mul(g.Size).Add(g.Origin))
	}
	return append(to, b)
}

// remove removes the blocks, and the directories that are empty then.
func (b Blocks) remove(ctx context.Context, dir string) error {
	dirs := map[string]bool{}
	for _, name := range b.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		file := filepath.Join(dir, name)
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		dirs[filepath.Dir(file)] = true
	}
	changed := map[string]bool{}
	for y := range dirs {
		z := filepath.Dir(y)
		switch {
		case os.Remove(y) != nil: // it has other blocks
			changed[y] = true
		case os.Remove(z) != nil:
			changed[z] = true
		default:
			changed[filepath.Dir(z)] = true
		}
	}
	for d := range changed {
		if err := atomicfile.SyncDir(d); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
