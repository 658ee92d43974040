package paths

import (
	"os"
	"path"
	"strings"
)

// IsArchive reports whether a file has the name of a zip archive.
func IsArchive(name string) bool {
	suffix := strings.ToLower(path.Ext(name))
	return suffix == ".zip" || suffix == ".ozx"
}

// CutArchive cuts a source in an archive, such as a.zip!b.zip!dir, into the archive and the paths inside, outermost
// first. Each but the last is an archive in the one before. Any other source, and one that is the name of a file of
// this machine, is returned as it is. A URL keeps its query.
func CutArchive(source string) (archive string, inside []string) {
	rest, query := source, ""
	if IsURL(source) {
		if at := strings.IndexAny(source, "?#"); at >= 0 {
			rest, query = source[:at], source[at:]
		}
	} else if _, err := os.Lstat(source); err == nil {
		return source, nil
	}
	for i, c := range rest {
		if c == '!' && IsArchive(rest[:i]) {
			return rest[:i] + query, strings.Split(rest[i+1:], "!")
		}
	}
	return source, nil
}
