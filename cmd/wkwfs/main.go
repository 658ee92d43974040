//go:build !docs

// Command wkwfs mounts WKW datasets as flat raw files. It turns flags into an
// exit code: the only place of the program with flags, signals and exit.
package main

import "os"

func main() {
	os.Exit(runAs(os.Args, os.Stdout, os.Stderr))
}
