//go:build !docs

// Command wkwfs mounts WKW, Zarr, N5 and Neuroglancer Precomputed volumes as flat raw files. The package
// has the flags, help texts, signals and exit codes of the program, and what it prints. Other
// packages do the work.
package main

import "os"

func main() {
	os.Exit(runAs(os.Args, os.Stdout, os.Stderr))
}
