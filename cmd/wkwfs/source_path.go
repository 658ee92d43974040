package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/link"
	"github.com/wkwfs/wkwfs/internal/small/paths"
)

// realSource returns the path of a source, absolute and free of symbolic links. A URL stays as it is, without what
// Neuroglancer writes around it.
func realSource(path string) (string, error) {
	path, err := link.Source(path)
	if err != nil {
		return "", err
	}
	resolved, err := paths.Real(path)
	if err != nil {
		return "", absentError("source", path, err)
	}
	return resolved, nil
}

// absentError returns err with the role of the path, such as source, in place of the name of a system call. If the path
// does not exist, a hint says what does.
func absentError(role, path string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s %s: %w", role, p.Path, p.Err)
	} else {
		err = fmt.Errorf("%s: %w", role, err)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return hint.Errorf(insteadOf(path), "%w", err)
}

// insteadOf returns a hint for a path that does not exist: a URL that was meant, a path with nearly the same name, or
// the directory to look into.
func insteadOf(path string) string {
	if paths.IsFileURL(path) {
		return "write " + hint.Quote(strings.TrimPrefix(path, "file://"))
	}
	if scheme, rest, ok := strings.Cut(path, ":/"); ok && !strings.Contains(scheme, "/") {
		return "write " + hint.Quote(scheme+"://"+strings.TrimLeft(rest, "/"))
	}
	dir, name := filepath.Dir(path), filepath.Base(path)
	if near := hint.Nearest(name, namesIn(dir)); near != "" {
		return "did you mean " + hint.Quote(filepath.Join(dir, near)) + "?"
	}
	for dir != filepath.Dir(dir) && !exists(dir) {
		dir = filepath.Dir(dir)
	}
	return "ls " + hint.Quote(dir) + " shows what there is"
}

// maxNames is the number of entries of a directory that are compared with a wrong name.
const maxNames = 1000

// namesIn returns names in a directory: none if it cannot be listed.
func namesIn(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxNames) // those before an error
	return names
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
