//go:build panics

package main

import (
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// panicsVariable names a directory. A goroutine that passes a place panics if the directory has a file of that name,
// and removes it.
const panicsVariable = "TEST_PANICS"

// The build tag panics makes a program for tests, which can be made to panic. The program that users run does not
// contain this.
func init() {
	if dir := os.Getenv(panicsVariable); dir != "" {
		guard.Inject(func(place string) {
			if os.Remove(filepath.Join(dir, place)) == nil {
				panic("injected at " + place)
			}
		})
	}
}
