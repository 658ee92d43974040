package precomputed

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/volume"
)

// Options are the options of Recognise. The zero Options are safe for untrusted volumes.
type Options struct {
	// Outside opens the directory of a scale with a key that points outside the volume, such as "../other/8_8_8". The
	// key is relative to the directory of the volume. If Outside is nil or fails, the scale is omitted.
	Outside func(key string) (fs.FS, error)
}

// Recognise opens the volume in directory name of fsys: it reads the info file. The Layer of the result has a mag for
// each scale. A scale that this package cannot read is omitted; the Layer is a [volume.Omitter] that lists the
// reasons.
//
// The files of fsys must be an [io.ReaderAt]. Recognise returns [ErrNotRecognised] if there is no info file of a
// volume. It returns another error if the info file cannot be read or parsed, or if no scale can be read.
func Recognise(fsys fs.FS, name string, o Options) (volume.Root, error) {
	stat, err := fs.Stat(fsys, name)
	if err != nil {
		return volume.Root{}, err
	}
	file := path.Join(name, infoFile)
	found, err := fs.Stat(fsys, file)
	if !stat.IsDir() || errors.Is(err, fs.ErrNotExist) || err == nil && !found.Mode().IsRegular() {
		return volume.Root{}, ErrNotRecognised
	}
	b, err := readInfo(fsys, file)
	if err != nil {
		return volume.Root{}, err
	}
	info, err := parseInfo(b)
	if err != nil {
		return volume.Root{}, fmt.Errorf("%s: %w", file, err)
	}
	l := newLayer(fsys, name, info, o)
	if len(l.List) == 0 {
		return volume.Root{}, fmt.Errorf("%s: no scale can be read%s", file, chunked.Reasons(l.Left))
	}
	return volume.Root{Layer: l}, nil
}

// readInfo reads an info file of at most maxInfoBytes.
func readInfo(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxInfoBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(b) > maxInfoBytes {
		return nil, fmt.Errorf("%s: %w: longer than %d bytes", name, ErrNotRecognised, maxInfoBytes)
	}
	return b, nil
}

// newLayer returns the volume in directory dir. Its mags are the scales, finest first.
func newLayer(fsys fs.FS, dir string, info *info, o Options) *chunked.Layer {
	l := &chunked.Layer{FS: fsys, Dir: dir, Left: info.omitted}
	var opened []*scale
	for _, s := range info.scales {
		chunks, chunkDir, err := openChunks(fsys, dir, s.key, o)
		if err == nil && s.sharding != nil {
			err = s.sharding.checkVersion(chunks, chunkDir)
		}
		if err != nil {
			l.Left = append(l.Left, volume.Omission{Name: s.name, Reason: err.Error()})
			continue
		}
		opened = append(opened, newScale(l, chunks, chunkDir, s, info.category))
	}
	slices.SortStableFunc(opened, func(a, b *scale) int {
		return cmp.Compare(a.resolution.volume(), b.resolution.volume())
	})
	for _, s := range opened {
		l.List = append(l.List, chunked.NamedMag{Name: s.name, Mag: s})
	}
	return l
}

// openChunks returns the file system and the directory with the chunks of a scale of the volume in dir.
func openChunks(fsys fs.FS, dir, key string, o Options) (fs.FS, string, error) {
	if !leavesVolume(key) {
		return fsys, path.Join(dir, key), nil
	}
	if o.Outside == nil {
		return nil, "", fmt.Errorf("its key %q points outside the volume", key)
	}
	outside, err := o.Outside(key)
	if err != nil {
		return nil, "", fmt.Errorf("its key %q points outside the volume: %w", key, err)
	}
	return outside, ".", nil
}
