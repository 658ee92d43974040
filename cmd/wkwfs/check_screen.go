package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/jobs/check"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/volume"
)

// checkScreen prints the findings of a check, above a bar on a terminal.
type checkScreen struct {
	mu     sync.Mutex
	out    io.Writer
	json   bool
	part   batch.Part // of the check
	bar    *bar       // counts cubes, on stderr
	found  map[check.Severity]int
	failed error // the first error of writing to out
}

func newCheckScreen(stdout, stderr io.Writer, asJSON bool) *checkScreen {
	return &checkScreen{
		out: stdout, json: asJSON, found: map[check.Severity]int{},
		bar: newBar(stderr, progressbar.OptionShowCount(), progressbar.OptionSetItsString("cubes"),
			progressbar.OptionShowIts()),
	}
}

// faultJSON is a finding as JSON. It is an interface: programs read it. Positions are x, y, z.
type faultJSON struct {
	Severity check.Severity `json:"severity"`
	Path     string         `json:"path"` // relative to the source: layer, mag, file
	Layer    string         `json:"layer,omitempty"`
	Mag      string         `json:"mag,omitempty"`
	Cube     *volume.Vec    `json:"cube,omitempty"`
	Block    *volume.Vec    `json:"block,omitempty"` // in the cube
	Error    string         `json:"error"`           // as text
	*formatJSON
}

func newFaultJSON(f check.Finding) faultJSON {
	fault := faultJSON{
		Severity: f.Severity, Path: f.Path, Layer: f.Layer, Mag: f.Mag, Cube: f.Cube, Block: f.Block,
		Error: hint.OneLine(f.Err.Error()),
	}
	fault.formatJSON = formatOf(f.Err)
	return fault
}

// finding prints a finding. It may be called concurrently.
func (s *checkScreen) finding(f check.Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found[f.Severity]++
	fault := newFaultJSON(f)
	if s.json {
		s.writeJSON(fault)
		return
	}
	s.write(fault.text())
}

// text returns the line for people. It names the file once: the error of a source that is one file starts with its
// name.
func (f faultJSON) text() string {
	text, path := f.Error, hint.OneLine(f.Path)
	if f.Path != "." && !strings.Contains(text, path) {
		text = path + ": " + strings.TrimPrefix(text, filepath.Base(path)+": ")
	}
	return fmt.Sprintf("%s: %s\n", f.Severity, text)
}

func (s *checkScreen) writeJSON(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		s.failed = errors.Join(s.failed, err)
		return
	}
	s.write(string(hint.EscapeJSON(b)) + "\n")
}

// write writes lines above the bar.
func (s *checkScreen) write(lines string) {
	s.bar.clear()
	if _, err := io.WriteString(s.out, lines); err != nil && s.failed == nil {
		s.failed = err
	}
}

// follow draws the bar until finish is called.
func (s *checkScreen) follow(stats *check.Stats) (finish func()) {
	if s.bar == nil {
		return func() {}
	}
	return every(barInterval, func() { s.show(stats) })
}

func (s *checkScreen) show(stats *check.Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar.draw(stats.Cubes.Load(), stats.Found.Load(), "")
}

// summary prints the last line of a check.
func (s *checkScreen) summary(stats *check.Stats, took time.Duration, interrupted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := check.Summary{
		Cubes: stats.Cubes.Load(), Blocks: stats.Blocks.Load(), Bytes: stats.Bytes.Load(),
		Seconds: took.Seconds(), Interrupted: interrupted,
	}
	s.count(&sum)
	if !s.part.Whole() {
		sum.Part = &check.SummaryPart{I: s.part.I, N: s.part.N, Plan: stats.Plan}
	}
	s.writeSummary(sum)
}

// count sets the numbers of the findings that were printed.
func (s *checkScreen) count(sum *check.Summary) {
	sum.Errors, sum.Warnings, sum.Notes = s.found[check.Error], s.found[check.Warning], s.found[check.Note]
}

func (s *checkScreen) writeSummary(sum check.Summary) {
	if s.json {
		s.writeJSON(map[string]check.Summary{"summary": sum})
		return
	}
	s.write(summaryText(sum))
}

// summaryText returns the line of a summary for people.
func summaryText(sum check.Summary) string {
	faults := "no faults"
	if sum.Errors+sum.Warnings+sum.Notes > 0 {
		faults = fmt.Sprintf("%s, %s, %s", counted(sum.Errors, "error"), counted(sum.Warnings, "warning"),
			counted(sum.Notes, "note"))
	}
	part := ""
	if sum.Part != nil {
		part = fmt.Sprintf("part %d/%d: ", sum.Part.I, sum.Part.N)
	}
	took := time.Duration(sum.Seconds * float64(time.Second)).Round(time.Millisecond)
	rate := uint64(float64(sum.Bytes) / max(sum.Seconds, 1e-3))
	return fmt.Sprintf("%s%s, %s, %s sound in %v (%s/s): %s\n", part, counted(int(sum.Cubes), "cube"),
		counted(int(sum.Blocks), "block"),
		humanize.IBytes(uint64(sum.Bytes)), took, humanize.IBytes(rate), faults)
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
