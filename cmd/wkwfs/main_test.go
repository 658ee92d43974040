package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"wkwfs": main, "mount.fuse.wkwfs": main, "mount.wkwfs": main})
}

// TestScripts runs testdata/*.txt, which show the command line as far as it works without a mount.
func TestScripts(t *testing.T) {
	cortex := writeSmall(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("CORTEX", cortex)
			e.Setenv("STATE_DIRECTORY", e.WorkDir) // for logs of servers in the background
			return nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
