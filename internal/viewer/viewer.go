// Package viewer holds the Neuroglancer that is built into the program: a page, its scripts and styles, and the
// licences of all that they contain. "make viewer" builds them from the packages of npm that npm/package-lock.json
// pins. A program that was built without them works, and has no viewer of its own.
package viewer

import (
	"embed"
	"io/fs"
)

// dist has a file .gitignore, which keeps the directory. Without all:, embed would leave that file out and find none.
//
//go:embed all:dist
var dist embed.FS

// Files returns the files of the viewer, each compressed with gzip as NAME.gz. The page is index.html, and licenses.txt
// has the licences. Files returns nil if the program was built without the viewer.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is valid
	}
	if _, err := fs.Stat(files, "index.html.gz"); err != nil {
		return nil
	}
	return files
}
