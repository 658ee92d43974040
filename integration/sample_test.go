package integration

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// sampleOnce writes the dataset of wkwfs sample, which takes seconds of a processor, and returns its directory.
var sampleOnce = sync.OnceValues(func() (dir string, err error) {
	dir = program + "-sample"
	if out, err := exec.Command(program, "sample", dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("wkwfs sample: %w: %s", err, out)
	}
	return dir, nil
})

// writeSample writes the dataset of wkwfs sample into a directory of the caller, which it makes.
func writeSample(t testing.TB, dir string) {
	t.Helper()
	from, err := sampleOnce()
	if err == nil {
		err = os.CopyFS(dir, os.DirFS(from))
	}
	if err != nil {
		t.Fatal(err)
	}
}
