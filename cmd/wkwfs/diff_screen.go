package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/wkwfs/wkwfs/internal/jobs/diff"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/paths"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
	"github.com/wkwfs/wkwfs/volume"
)

// diffScreen prints what a comparison finds, above a bar on a terminal.
type diffScreen struct {
	mu     sync.Mutex
	out    io.Writer
	json   bool
	bar    *bar // counts planes, on stderr
	start  time.Time
	stats  diff.Stats
	sum    diffSummaryJSON
	failed error // the first error of writing to out
}

func newDiffScreen(stdout, stderr io.Writer, asJSON bool) *diffScreen {
	s := &diffScreen{out: stdout, json: asJSON, start: time.Now()}
	s.bar = newBar(stderr, progressbar.OptionShowCount(), progressbar.OptionSetItsString("planes"),
		progressbar.OptionShowIts())
	return s
}

// diffJSON is what was found in a mag, as JSON. It is an interface: programs read it.
type diffJSON struct {
	Layer string `json:"layer"`
	Other string `json:"other,omitempty"` // the layer of B, if it has another name
	Mag   string `json:"mag,omitempty"`

	// One of these is set, except that Box is set with Voxels, and may be with Error.

	Box    string          `json:"box,omitempty"`    // as box/ of a mount has it
	Voxels int64           `json:"voxels,omitempty"` // of the box that differ
	Only   string          `json:"only,omitempty"`   // A or B: the other one lacks the layer or mag
	Bounds *diffBoundsJSON `json:"bounds,omitempty"` // the bounding boxes differ
	Error  string          `json:"error,omitempty"`
	*formatJSON
}

type diffBoundsJSON struct {
	A string `json:"a"`
	B string `json:"b"`
}

// diffSummaryJSON is the last line of JSON.
type diffSummaryJSON struct {
	IsEqual  bool    `json:"equal"`
	Boxes    int64   `json:"boxes"`
	Voxels   int64   `json:"voxels"`
	Only     int64   `json:"only"`   // layers and mags that one source lacks
	Bounds   int64   `json:"bounds"` // mags whose bounding boxes differ
	Faults   int64   `json:"errors"`
	Compared int64   `json:"compared_bytes"` // of each source
	Seconds  float64 `json:"seconds"`
	Failed   bool    `json:"failed,omitempty"` // not all was compared
}

// Equal reports whether nothing differs.
func (s diffSummaryJSON) Equal() bool { return s.Boxes+s.Only+s.Bounds+s.Faults == 0 && !s.Failed }

// text returns the line for people.
func (s diffSummaryJSON) text() string {
	text := fmt.Sprintf("different: boxes: %d, voxels: %d", s.Boxes, s.Voxels)
	for _, also := range []struct {
		what string
		n    int64
	}{{"bounding boxes", s.Bounds}, {"layers or mags of one source", s.Only}, {"errors", s.Faults}} {
		if also.n > 0 {
			text += fmt.Sprintf(", %s: %d", also.what, also.n)
		}
	}
	return text
}

// report returns the functions that print and count what is found.
func (s *diffScreen) report() diff.Report {
	of := func(p diff.Place) diffJSON {
		found := diffJSON{Layer: p.Layer, Mag: p.Mag}
		if p.Other != p.Layer {
			found.Other = p.Other
		}
		return found
	}
	return diff.Report{
		Only: func(side string, p diff.Place) {
			found := of(p)
			found.Only = side
			s.print(&s.sum.Only, found, fmt.Sprintf("only in %s: %v", side, p))
		},
		Bounds: func(p diff.Place, r diff.Result) {
			found := of(p)
			found.Bounds = &diffBoundsJSON{tree.BoxName(r.BoundsA), tree.BoxName(r.BoundsB)}
			s.print(&s.sum.Bounds, found, fmt.Sprintf("%v: bounding box %v in A, %v in B", p, r.BoundsA, r.BoundsB))
		},
		Found: func(p diff.Place, d diff.Difference) {
			found := of(p)
			found.Box, found.Voxels = tree.BoxName(d.Box), d.Voxels
			s.sum.Voxels += d.Voxels
			s.print(&s.sum.Boxes, found, fmt.Sprintf("%v: %s: %d of %d voxels differ", p, found.Box, d.Voxels,
				volumeOf(d.Box)))
		},
		Failed: func(p diff.Place, f diff.Fault) {
			found := of(p)
			found.Error, found.formatJSON = hint.OneLine(f.Err.Error()), formatOf(f.Err)
			text := fmt.Sprintf("error: %v: %s", p, found.Error)
			if f.Box != (volume.Box{}) {
				found.Box = tree.BoxName(f.Box)
				text = fmt.Sprintf("error: %v: %s: %s", p, found.Box, found.Error)
			}
			s.print(&s.sum.Faults, found, text)
		},
	}
}

// volumeOf returns the number of voxels of a box.
func volumeOf(b volume.Box) int64 {
	n := b.Size()
	return int64(n[0]) * int64(n[1]) * int64(n[2])
}

// print counts and prints what was found.
func (s *diffScreen) print(count *int64, found diffJSON, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*count++
	if s.json {
		s.writeJSON(found)
		return
	}
	s.write(hint.OneLine(text) + "\n")
}

func (s *diffScreen) writeJSON(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		s.failed = errors.Join(s.failed, err)
		return
	}
	s.write(string(hint.EscapeJSON(b)) + "\n")
}

// write writes lines above the bar.
func (s *diffScreen) write(lines string) {
	s.bar.clear()
	if _, err := io.WriteString(s.out, lines); err != nil && s.failed == nil {
		s.failed = err
	}
}

// follow draws the bar until finish is called.
func (s *diffScreen) follow() (finish func()) {
	if s.bar == nil {
		return func() {}
	}
	return every(barInterval, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bar.draw(s.stats.Planes.Load(), s.stats.AllPlanes.Load(), "")
	})
}

// summary prints the last line.
func (s *diffScreen) summary(failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sum.Failed = failed
	s.sum.IsEqual, s.sum.Compared, s.sum.Seconds = s.sum.Equal(), s.stats.Compared.Load(), time.Since(s.start).Seconds()
	switch {
	case s.json:
		s.writeJSON(map[string]diffSummaryJSON{"summary": s.sum})
	case failed:
	case s.sum.Equal():
		s.write("equal\n")
	default:
		s.write(s.sum.text() + "\n")
	}
}

// sourceName returns the last element of the path of a source, which is the name of its only layer if it is no dataset.
func sourceName(source string) string {
	if paths.IsURL(source) {
		return remote.Base(source)
	}
	return path.Base(source)
}
