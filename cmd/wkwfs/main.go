//go:build !docs

// Command wkwfs mounts WKW, Zarr, N5 and Neuroglancer Precomputed volumes as ordinary files. The package
// has the flags, help texts, signals and exit codes of the program, and what it prints. Other
// packages do the work.
package main

import (
	"os"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

func main() {
	code := runAs(os.Args, os.Stdout, os.Stderr)
	guard.Flush()
	os.Exit(code)
}
