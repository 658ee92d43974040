package webknossos

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

// Cubes lists one level of z{Z}/y{Y}/x{X}.wkw in rising order. An entry of the wrong kind, such as a directory with the
// name of a cube, is listed too: it exists and cannot be read, so it must not read as zeros.
func (m *mag) Cubes(zy ...int) ([]int, error) {
	var found []int
	for piece, err := range m.listCubes(zy...) {
		if err != nil {
			return nil, err
		}
		if found == nil {
			found = piece
			continue
		}
		found = append(found, piece...)
	}
	slices.Sort(found)
	return found, nil
}

// Index returns what the directories of the mag tell. It implements volume.Indexed.
func (m *mag) Index() volume.Index {
	return volume.Index{List: m.listCubes, Describe: m.describeCubes, Bounds: m.boundsOfCubes, Metadata: m.statMetadata,
		Files: m.cubeFiles}
}

func (m *mag) listCubes(zy ...int) iter.Seq2[[]int, error] {
	dir, level := m.path(zy...), len(zy)
	return func(yield func([]int, error) bool) {
		for entries, err := range vfs.ListDir(m.fsys, dir) {
			if err != nil {
				yield(nil, m.listingError(err, zy))
				return
			}
			var found []int
			for _, e := range entries {
				if n, ok := parseEntry(e.Name(), level); ok {
					found = append(found, n)
				}
			}
			slices.Sort(found)
			if len(found) > 0 && !yield(found, nil) {
				return
			}
		}
	}
}

// listingError returns the error of listing a level of the index. If the level does not exist, or is of the wrong kind,
// that is the error.
func (m *mag) listingError(err error, zy []int) error {
	if _, statErr := m.StatCubes(zy...); statErr != nil {
		return statErr
	}
	return err
}

func (m *mag) describeCubes(zy ...int) iter.Seq2[[]volume.CubeEntry, error] {
	level := len(zy)
	wanted := func(name string) bool {
		_, ok := parseEntry(name, level)
		return ok
	}
	return func(yield func([]volume.CubeEntry, error) bool) {
		for listed, err := range vfs.Describe(m.fsys, m.path(zy...), wanted) {
			if err != nil {
				yield(nil, m.listingError(err, zy))
				return
			}
			if found := m.described(listed, zy); len(found) > 0 && !yield(found, nil) {
				return
			}
		}
	}
}

// described returns the listed entries that belong to a level of the index, in rising order.
func (m *mag) described(listed []vfs.Described, zy []int) []volume.CubeEntry {
	level := len(zy)
	found := make([]volume.CubeEntry, 0, len(listed))
	for _, l := range listed {
		n, _ := parseEntry(l.Name(), level)
		e := volume.CubeEntry{N: n, Info: l.Info, Err: l.Err}
		if e.Err != nil { // StatCubes distinguishes a broken link from a missing file
			e.Info, e.Err = m.StatCubes(append(zy[:level:level], n)...)
		} else if e.Err = vfs.CheckKind(m.path(append(zy[:level:level], n)...), e.Info,
			kindOfLevel(level)); e.Err != nil {
			e.Info = nil
		}
		if !errors.Is(e.Err, fs.ErrNotExist) { // it was not removed since it was listed
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b volume.CubeEntry) int { return cmp.Compare(a.N, b.N) })
	return found
}

// Speed implements vfs.SpeedReporter.
func (m *mag) Speed() vfs.Speed { return vfs.SpeedOf(m.fsys) }

// kindOfLevel returns the kind of file that a level of the index needs: a directory for z and y, a regular file for x.
func kindOfLevel(level int) fs.FileMode {
	if level < 2 {
		return fs.ModeDir
	}
	return 0
}

// StatCubes describes z{Z}, z{Z}/y{Y} or z{Z}/y{Y}/x{X}.wkw. The error for an entry of the wrong kind is not
// fs.ErrNotExist.
func (m *mag) StatCubes(zyx ...int) (fs.FileInfo, error) {
	name := m.path(zyx...)
	info, err := fs.Stat(m.fsys, name)
	if err != nil {
		return nil, vfs.CheckAbsent(m.fsys, m.dir, name, err)
	}
	if err := vfs.CheckKind(name, info, kindOfLevel(len(zyx)-1)); err != nil {
		return nil, err
	}
	return info, nil
}

// path returns the path of an entry of the index of cubes with the positions z, y, x.
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

// parseEntry parses the name of an entry at a level of the index: z…, y…, x….wkw.
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

func (m *mag) cubeFiles() volume.CubeFiles {
	return volume.CubeFiles{FS: m.fsys, Dir: m.dir, Example: "z0/y0/x0" + cubeSuffix, Kind: kindOfName}
}

// kindOfName says what a name below the directory of a mag is.
func kindOfName(name string) volume.CubeName {
	parts := strings.Split(name, "/")
	if len(parts) > 3 {
		return volume.OtherName
	}
	for level, part := range parts {
		if _, ok := parseEntry(part, level); !ok {
			return volume.OtherName
		}
	}
	if len(parts) < 3 {
		return volume.DirName
	}
	return volume.FileName
}

// cubeFiles yields the paths of the cube files in the directory of a mag. For a directory of cubes that cannot be
// listed, it yields its path and the error. If dir does not exist, it yields nothing. Files may be of the wrong kind.
func cubeFiles(fsys fs.FS, dir string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) { walkCubes(fsys, dir, 0, yield) }
}

func walkCubes(fsys fs.FS, dir string, level int, yield func(string, error) bool) bool {
	for entries, err := range vfs.ListDir(fsys, dir) {
		if err != nil {
			return level == 0 && !inconclusive(err) || yield(dir, err)
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			switch _, ok := parseEntry(e.Name(), level); {
			case !ok:
			case level < 2 && !walkCubes(fsys, name, level+1, yield), level == 2 && !yield(name, nil):
				return false
			}
		}
	}
	return true
}
