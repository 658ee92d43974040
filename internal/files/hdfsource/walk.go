package hdfsource

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/volume"
)

// Limits of the search for datasets.
const (
	maxDepth   = 1000
	maxObjects = 10_000
	maxLevels  = 32 // of a pyramid
)

// hidden are groups that programs keep for themselves.
var hidden = []string{"#refs#", "#subsystem#", "__DATA_TYPES__", "Thumbnail", "DataSetInfo", "DataSetTimes"}

// tree is what a search for datasets has found.
type tree struct {
	*source
	file     *opened
	seen     map[uint64]bool // addresses of groups: hard links make cycles
	objects  int
	datasets []*hdf5.Dataset // in the order of their paths
	names    []string        // of layers
	layers   map[string]*layer
	timed    int // mags of times
	maxTimes int
	left     []volume.Omission
}

// leaveOut records an object that is not shown, and why.
func (t *tree) leaveOut(name string, fault bool, err error) {
	t.left = append(t.left, volume.Omission{Name: strings.TrimPrefix(name, "/"), Reason: without(t.name, err),
		Fault: fault})
}

// walk finds the datasets below a group.
func (t *tree) walk(g *hdf5.Group, name string, depth int) {
	if t.seen[g.Address()] {
		return
	}
	t.seen[g.Address()] = true
	if depth > maxDepth {
		t.leaveOut(name, true, fmt.Errorf("groups within groups: expected at most %d levels", maxDepth))
		return
	}
	names, err := g.Names()
	if err != nil {
		t.leaveOut(name, isDamage(err), t.located(err))
		return
	}
	for _, child := range names {
		if slices.Contains(hidden, child) {
			continue
		}
		if t.objects++; t.objects == maxObjects {
			t.leaveOut(name, true, fmt.Errorf("objects of the file: expected at most %d", maxObjects))
		}
		if t.objects >= maxObjects {
			return
		}
		at := path.Join("/", name, child)
		object, err := g.Lookup(child)
		if err != nil {
			t.leaveOut(at, isDamage(err), t.located(err))
			continue
		}
		switch o := object.(type) {
		case *hdf5.Group:
			t.walk(o, at, depth+1)
		case *hdf5.Dataset:
			t.datasets = append(t.datasets, o)
		}
	}
}
