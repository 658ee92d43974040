package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"wkwfs": main, "mount.fuse.wkwfs": main, "mount.wkwfs": main})
}

// TestScripts runs what testdata/*.txt shows of the command line: as far as it
// goes without a mount.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
