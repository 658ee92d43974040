package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"

	"github.com/wkwfs/wkwfs/internal/check"
	"github.com/wkwfs/wkwfs/internal/hint"
	"github.com/wkwfs/wkwfs/volume"
)

// checkScreen prints the findings of a check, above a bar on a terminal.
type checkScreen struct {
	mu     sync.Mutex
	out    io.Writer
	json   bool
	bar    *bar // counts cubes, on stderr
	found  map[check.Severity]int
	failed error // the first error of writing to out
}

func newCheckScreen(stdout, stderr io.Writer, asJSON bool) *checkScreen {
	return &checkScreen{
		out: stdout, json: asJSON, found: map[check.Severity]int{},
		bar: newBar(stderr, progressbar.OptionShowCount(), progressbar.OptionSetItsString("cubes"), progressbar.OptionShowIts()),
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

// formatJSON is where and how a file violates its format.
type formatJSON struct {
	File     string `json:"file"` // in the source
	What     string `json:"what"` // the field or block at fault
	Offset   int64  `json:"offset"`
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
}

func newFaultJSON(f check.Finding) faultJSON {
	fault := faultJSON{
		Severity: f.Severity, Path: f.Path, Layer: f.Layer, Mag: f.Mag, Cube: f.Cube, Block: f.Block,
		Error: hint.OneLine(f.Err.Error()),
	}
	fault.formatJSON = formatOf(f.Err)
	return fault
}

// formatOf returns the parts of an error of a format; nil where it is none. A decoder's
// error has no parts.
func formatOf(err error) *formatJSON {
	format, ok := errors.AsType[*volume.FormatError](err)
	if !ok {
		unsupported, ok := errors.AsType[*volume.UnsupportedError](err)
		if !ok {
			return nil
		}
		format = (*volume.FormatError)(unsupported)
	}
	return &formatJSON{format.File, format.Part, format.Offset, format.Expected, format.Found}
}

// finding prints a finding. It may be called concurrently.
func (s *checkScreen) finding(f check.Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found[f.Severity]++
	if s.json {
		s.writeJSON(newFaultJSON(f))
		return
	}
	text := hint.OneLine(f.Err.Error())
	if f.Path != "." && !strings.Contains(text, f.Path) {
		text = f.Path + ": " + text
	}
	s.write(fmt.Sprintf("%s: %s\n", f.Severity, text))
}

func (s *checkScreen) writeJSON(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		s.failed = errors.Join(s.failed, err)
		return
	}
	s.write(string(b) + "\n")
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
	s.bar.draw(stats.Cubes.Load(), stats.Found.Load())
}

// summaryJSON is the last line of JSON.
type summaryJSON struct {
	Cubes    int64   `json:"cubes"`
	Blocks   int64   `json:"blocks"`
	Bytes    int64   `json:"bytes"` // of undamaged blocks, decoded
	Errors   int     `json:"errors"`
	Warnings int     `json:"warnings"`
	Notes    int     `json:"notes"`
	Seconds  float64 `json:"seconds"`
}

// summary prints the last line.
func (s *checkScreen) summary(stats *check.Stats, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := summaryJSON{
		stats.Cubes.Load(), stats.Blocks.Load(), stats.Bytes.Load(),
		s.found[check.Error], s.found[check.Warning], s.found[check.Note], took.Seconds(),
	}
	if s.json {
		s.writeJSON(map[string]summaryJSON{"summary": sum})
		return
	}
	faults := "no faults"
	if sum.Errors+sum.Warnings+sum.Notes > 0 {
		faults = fmt.Sprintf("%s, %s, %s", counted(sum.Errors, "error"), counted(sum.Warnings, "warning"), counted(sum.Notes, "note"))
	}
	rate := uint64(float64(sum.Bytes) / max(sum.Seconds, 1e-3))
	s.write(fmt.Sprintf("%s, %s, %s sound in %v (%s/s): %s\n", counted(int(sum.Cubes), "cube"), counted(int(sum.Blocks), "block"),
		humanize.IBytes(uint64(sum.Bytes)), took.Round(time.Millisecond), humanize.IBytes(rate), faults))
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
