// Package viewer holds the Neuroglancer that is built into the program: a page, its scripts and styles, and the
// licences of all that they contain. "make viewer" builds them from the packages of npm that npm/package-lock.json
// pins. A program that was built without them works, and has no viewer of its own.
//
// # Decisions
//
// Neuroglancer is part of the program (1.0 MiB), so that wkwfs view needs no internet, and no other site needs access
// to the data. It is built from the packages that a lock file pins, and is not in git: a build without it embeds an
// empty directory. It contains only the formats that wkwfs serves.
//
// The build patches Neuroglancer twice. All bundles are in one directory here, so one patch changes the path of a
// worker. The policy of the page forbids functions that are made of strings, so the other one replaces such a
// function. A patch that no longer fits fails the build.
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
