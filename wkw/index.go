package wkw

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

const cubeSuffix = ".wkw"

// Cubes lists one level of z{Z}/y{Y}/x{X}.wkw, in rising order.
func (m *mag) Cubes(zy ...int) ([]int, error) {
	dir := m.path(zy...)
	entries, err := fs.ReadDir(m.fsys, dir)
	if err != nil {
		if _, statErr := m.StatCubes(zy...); statErr != nil {
			err = statErr // there is no such level
		}
		return nil, err
	}
	var found []int
	for _, e := range entries {
		n, ok := parseEntry(e.Name(), len(zy))
		if ok && belongs(m.fsys, e, path.Join(dir, e.Name()), len(zy)) {
			found = append(found, n)
		}
	}
	slices.Sort(found)
	return found, nil
}

// DescribeCubes implements volume.CubeDescriber.
func (m *mag) DescribeCubes(zy ...int) ([]volume.CubeEntry, error) {
	level := len(zy)
	listed, err := vfs.Describe(m.fsys, m.path(zy...), func(name string) bool {
		_, ok := parseEntry(name, level)
		return ok
	})
	if err != nil {
		if _, statErr := m.StatCubes(zy...); statErr != nil {
			err = statErr // there is no such level
		}
		return nil, err
	}
	found := make([]volume.CubeEntry, 0, len(listed))
	for _, l := range listed {
		n, _ := parseEntry(l.Name(), level)
		e := volume.CubeEntry{N: n, Info: l.Info, Err: l.Err}
		if e.Err != nil { // a link that leads nowhere says so itself
			e.Info, e.Err = m.StatCubes(append(zy[:level:level], n)...)
		}
		if e.Err == nil && isKind(e.Info.Mode(), level) || e.Err != nil && !errors.Is(e.Err, fs.ErrNotExist) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b volume.CubeEntry) int { return cmp.Compare(a.N, b.N) })
	return found, nil
}

// Late implements vfs.Later.
func (m *mag) Late() bool { return vfs.IsLate(m.fsys) }

// belongs reports whether the entry is of the kind that a level of the index has:
// directories and, last, files. A link that cannot be followed belongs: it stands for
// data that cannot be read, which is not the same as none.
func belongs(fsys fs.FS, e fs.DirEntry, name string, level int) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return isKind(e.Type(), level)
	}
	info, err := fs.Stat(fsys, name)
	return err != nil || isKind(info.Mode(), level)
}

func isKind(mode fs.FileMode, level int) bool {
	if level < 2 {
		return mode.IsDir()
	}
	return mode.IsRegular()
}

// StatCubes describes z{Z}, z{Z}/y{Y} or z{Z}/y{Y}/x{X}.wkw.
func (m *mag) StatCubes(zyx ...int) (fs.FileInfo, error) {
	name := m.path(zyx...)
	info, err := fs.Stat(m.fsys, name)
	if err != nil {
		return nil, m.reached(err, zyx...)
	}
	if !isKind(info.Mode(), len(zyx)-1) {
		return nil, notExist("stat", name)
	}
	return info, nil
}

// reached returns the error that an entry of the index gave, but lets it say that
// there is no such entry only where that is so. What is behind a link that leads
// nowhere was written once, and must not be shown as zeros.
func (m *mag) reached(err error, zyx ...int) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for level := range zyx {
		name := m.path(zyx[:level+1]...)
		info, lstatErr := fs.Lstat(m.fsys, name)
		if lstatErr != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if why := unfollowed(m.fsys, name); why != "" {
				return fmt.Errorf("%s: %s", name, why)
			}
		}
	}
	return err
}

// path returns the path of an entry of the index of cubes, given as z, y, x.
func (m *mag) path(zyx ...int) string {
	switch len(zyx) {
	case 0:
		return m.dir
	case 1:
		return path.Join(m.dir, fmt.Sprintf("z%d", zyx[0]))
	case 2:
		return path.Join(m.dir, fmt.Sprintf("z%d/y%d", zyx[0], zyx[1]))
	}
	return path.Join(m.dir, fmt.Sprintf("z%d/y%d/x%d%s", zyx[0], zyx[1], zyx[2], cubeSuffix))
}

// parseEntry reads the name of an entry at a level of the index: z…, y…, x….wkw.
func parseEntry(name string, level int) (int, bool) {
	digits, ok := strings.CutPrefix(name, "zyx"[level:level+1])
	if ok && level == 2 {
		digits, ok = strings.CutSuffix(digits, cubeSuffix)
	}
	if !ok {
		return 0, false
	}
	return volume.ParseIndex(digits)
}

// cubeFiles yields the paths of the cube files in the directory of a mag.
func cubeFiles(fsys fs.FS, dir string) iter.Seq[string] {
	return func(yield func(string) bool) { walkCubes(fsys, dir, 0, yield) }
}

func walkCubes(fsys fs.FS, dir string, level int, yield func(string) bool) bool {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return true
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if _, ok := parseEntry(e.Name(), level); !ok || !belongs(fsys, e, name, level) {
			continue
		}
		if level < 2 {
			if !walkCubes(fsys, name, level+1, yield) {
				return false
			}
		} else if !yield(name) {
			return false
		}
	}
	return true
}
