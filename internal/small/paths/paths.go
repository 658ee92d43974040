// Package paths compares and resolves paths of this machine, and tells URLs from them.
package paths

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// url matches the start of a URL, other than of a file of this machine.
var url = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*://`)

// IsURL reports whether a source is the URL of objects in a store, not a path.
func IsURL(source string) bool { return url.MatchString(source) && !IsFileURL(source) }

// IsFileURL reports whether text is the URL of a file of this machine.
func IsFileURL(text string) bool { return strings.HasPrefix(text, "file://") }

// Real returns the path made absolute and free of symbolic links. It must exist. A URL stays as it is, and so does what
// [CutArchive] cuts off.
func Real(path string) (string, error) {
	if IsURL(path) {
		return path, nil
	}
	path, inside := CutArchive(path)
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", err
	}
	return strings.Join(append([]string{path}, inside...), "!"), nil
}

// Contains reports whether the path is the directory or below it. Both must be free of links.
// It compares files, not names, so it recognises bind mounts. It returns false if one of them is a URL.
func Contains(dir, path string) (bool, error) {
	if IsURL(dir) || IsURL(path) {
		return false, nil
	}
	dir, _ = CutArchive(dir)
	path, _ = CutArchive(path)
	want, err := os.Stat(dir)
	if err != nil {
		return false, err
	}
	for {
		info, err := os.Stat(path)
		if err != nil {
			return false, err
		}
		if os.SameFile(info, want) {
			return true, nil
		}
		parent := filepath.Dir(path)
		if parent == path {
			return false, nil
		}
		path = parent
	}
}
