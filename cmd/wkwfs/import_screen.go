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

	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/write/importer"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// importScreen shows an import: its plan, its progress and its result. With --json it also prints them as JSON.
type importScreen struct {
	*screen
	layer string
	dry   bool // nothing is written
	stats importer.Stats

	mu     sync.Mutex
	json   io.Writer // or nil
	failed error     // the first error of writing to json
	plan   importer.Plan
	start  time.Time // when the plan was made
}

// jsonInterval is the time between two lines of progress in JSON.
const jsonInterval = time.Second

func newImportScreen(stdout, stderr io.Writer, quiet, asJSON bool) *importScreen {
	s := &importScreen{screen: newScreen(stderr, quiet), start: time.Now()}
	if asJSON {
		s.json = stdout
	}
	return s
}

// planJSON is what an import is about to write. It is an interface, as all types of this file whose names end with JSON
// are: programs read them. Positions are x, y, z.
type planJSON struct {
	Layer     string     `json:"layer"`
	Category  string     `json:"category"`
	Why       string     `json:"why,omitempty"` // the category was chosen
	Offset    volume.Vec `json:"offset"`        // voxels of mag 1
	Shape     volume.Vec `json:"shape"`
	VoxelSize [3]float64 `json:"voxel_size,omitzero"` // nm; not of an update
	Mags      []string   `json:"mags"`
	Axes      string     `json:"axes,omitempty"`        // of the array; absent if its header has x, y and z
	WhyAxes   string     `json:"why_axes,omitempty"`    // the axes were chosen
	Array     []int      `json:"array_shape,omitempty"` // as numpy prints it
	Order     string     `json:"array_order,omitempty"` // C or Fortran
}

// progressJSON is how far an import is.
type progressJSON struct {
	Bytes     int64    `json:"bytes"` // of the input, decoded
	AllBytes  int64    `json:"all_bytes"`
	KeptBytes int64    `json:"kept_bytes"` // of bytes, by an import before
	Plane     int64    `json:"plane"`      // planes of the input that are done
	Planes    int64    `json:"planes"`
	Written   int64    `json:"cubes_written"`
	Kept      int64    `json:"cubes_kept"`
	Empty     int64    `json:"cubes_empty"` // left out
	Seconds   float64  `json:"seconds"`
	Rate      float64  `json:"bytes_per_second"`
	Left      *float64 `json:"seconds_left,omitempty"` // unknown at first
}

// dryRunJSON is what an import or an update would write.
type dryRunJSON struct {
	Creates bool          `json:"creates_dataset"`
	Removes bool          `json:"removes_layer"`
	From    int           `json:"resumes_from"` // plane of mag 1; 0: nothing is written yet
	Mags    []magFileJSON `json:"files"`        // empty if an earlier call has written the part
}

// magFileJSON are the cubes of a mag that would be written.
type magFileJSON struct {
	Mag           string     `json:"mag"`
	Offset        volume.Vec `json:"offset"` // voxels of the mag
	Shape         volume.Vec `json:"shape"`
	Bytes         int64      `json:"voxel_bytes"` // decoded
	Files         int64      `json:"most_files"`
	Existing      int64      `json:"existing_files"` // an update replaces them, an import keeps them
	ExistingBytes int64      `json:"existing_bytes"`
}

// importErrorJSON is why an import failed.
type importErrorJSON struct {
	Error   string   `json:"error"`
	Hint    string   `json:"hint,omitempty"`
	Missing []string `json:"missing,omitempty"` // names of flags, without dashes
	*formatJSON
}

func (s *importScreen) warning(file, text string) {
	s.notice(fmt.Sprintf("warning: %s: %s", file, text))
	s.writeJSON("warning", text)
}

// waits shows that the import has to wait.
func (s *importScreen) waits() { s.notice("waiting: another process is writing the layer") }

// planned shows what the import is about to write.
func (s *importScreen) planned(p importer.Plan) {
	s.mu.Lock()
	s.plan, s.start = p, time.Now()
	s.mu.Unlock()
	if p.Why != "" {
		s.notice(fmt.Sprintf("category %s: %s", p.Category, p.Why))
	}
	for _, line := range planTexts(s.layer, p) {
		s.notice(line)
	}
	for _, text := range doubts(p) {
		s.warning(s.layer, text)
	}
	if p.Part.Empty() {
		s.notice(fmt.Sprintf("nothing to do in this part: there are fewer cubes of mag %v than parts",
			p.Factors[len(p.Factors)-1]))
	}
	line := planJSON{Layer: s.layer, Category: p.Category, Why: p.Why, Offset: p.Box.Min, Shape: p.Box.Size(),
		VoxelSize: p.VoxelSize}
	for _, f := range p.Factors {
		line.Mags = append(line.Mags, f.String())
	}
	if l := p.Layout; l.Axes != "" {
		line.Axes, line.WhyAxes, line.Array, line.Order = l.Axes, p.WhyAxes, l.Shape, "C"
		if l.Fortran {
			line.Order = "Fortran"
		}
	}
	s.writeJSON("plan", line)
}

// planTexts returns lines that say which voxels of the layer an import writes, and how it reads the axes of its input.
func planTexts(layer string, p importer.Plan) []string {
	g := p.Input
	part := ""
	if p.Part != p.Box && !p.Part.Empty() {
		part = fmt.Sprintf(", of which this part has %v", p.Part)
	}
	channels := ""
	if g.Channels > 1 {
		channels = fmt.Sprintf("%d × ", g.Channels)
	}
	all := []string{fmt.Sprintf("layer %s, box %v: %d × %d × %d voxels of %s%v, %s%s",
		layer, p.Box, g.Size[0], g.Size[1], g.Size[2], channels, g.Type, bytesText(g.Bytes()), part)}
	if l := p.Layout; l.Axes != "" {
		text := fmt.Sprintf("axes %s of the shape %v", strings.Join(strings.Split(l.Axes, ""), ", "), l)
		if p.WhyAxes != "" {
			text += ": " + p.WhyAxes
		}
		all = append(all, text)
	}
	return all
}

// dryRun shows what the import would write.
func (s *importScreen) dryRun(d importer.DryRun, update bool) {
	line := dryRunJSON{Creates: d.Creates, Removes: d.Removes, From: d.From, Mags: []magFileJSON{}}
	for _, m := range d.Mags {
		line.Mags = append(line.Mags, magFileJSON{m.Factor.String(), m.Box.Min, m.Box.Size(), m.Bytes, m.Files,
			m.Existing, m.ExistingBytes})
	}
	if s.json != nil {
		s.writeJSON("dry_run", line)
		return
	}
	for _, text := range dryRunTexts(s.layer, d, update) {
		s.notice(text)
	}
}

// dryRunTexts returns lines that say what an import would write.
func dryRunTexts(layer string, d importer.DryRun, update bool) (all []string) {
	if d.Creates {
		all = append(all, "would create the dataset: there is no "+webknossos.PropertiesFile)
	}
	if d.Removes {
		all = append(all, fmt.Sprintf("would remove layer %s, which exists, with all of its files", layer))
	}
	if d.From > 0 {
		all = append(all, fmt.Sprintf("would resume from plane %d: an import before has written those below it",
			d.From))
	}
	if d.Done {
		all = append(all, "would do nothing: this part is complete")
	}
	for _, m := range d.Mags {
		text := fmt.Sprintf("would write mag %v, box %v: voxels of %s, in at most %s", m.Factor, m.Box,
			bytesText(m.Bytes), filesText(m.Files))
		switch {
		case m.Existing == 0:
		case update:
			text += fmt.Sprintf("; would replace %s of %s", filesText(m.Existing), bytesText(m.ExistingBytes))
		default:
			text += fmt.Sprintf("; would keep %s of %s", filesText(m.Existing), bytesText(m.ExistingBytes))
		}
		all = append(all, text)
	}
	return append(all, "nothing is written: --dry-run")
}

// doubts returns a sentence for each number of a plan that is valid, but probably not meant.
func doubts(p importer.Plan) (all []string) {
	if p.Doubt != "" {
		all = append(all, p.Doubt)
	}
	const (
		leastLength = 0.1 // nm, the size of an atom
		manyFiles   = 100_000
		usualCube   = 512 // voxels a side; a dataset of larger cubes may well have many
	)
	if p.VoxelSize[0] > 0 && min(p.VoxelSize[0], p.VoxelSize[1], p.VoxelSize[2]) < leastLength {
		all = append(all, fmt.Sprintf("voxels of %v × %v × %v nm are smaller than atoms: --voxel-size is in nm",
			p.VoxelSize[0], p.VoxelSize[1], p.VoxelSize[2]))
	}
	if p.Cube > 0 && p.Cube < usualCube {
		n := p.Part.Div(volume.Cube(p.Cube)).Size()
		if files := float64(n[0]) * float64(n[1]) * float64(n[2]); files > manyFiles {
			all = append(all,
				fmt.Sprintf("up to %s files of mag 1, each of %d voxels a side: a larger --cube makes fewer",
					humanize.Comma(int64(files)), p.Cube))
		}
	}
	return all
}

// followImport shows the progress until finish is called.
func (s *importScreen) followImport() (finish func()) {
	endScreen := s.followWith(s.show, func(time.Duration) string { return importSummary(s.progress()) })
	endJSON := func() {}
	if s.json != nil {
		endJSON = every(jsonInterval, func() { s.writeJSON("progress", s.progress()) })
	}
	return func() {
		endJSON()
		endScreen()
	}
}

// finish prints the last line of JSON: a summary, or the error. It returns the error, or that of printing.
func (s *importScreen) finish(err error) error {
	if err == nil {
		if !s.dry {
			s.writeJSON("summary", s.progress())
		}
		if s.failed != nil {
			return fmt.Errorf("printing the result: %w", s.failed)
		}
		return nil
	}
	line := importErrorJSON{Error: hint.OneLine(err.Error()), formatJSON: formatOf(err)}
	if advice, ok := errors.AsType[*hint.Error](err); ok {
		line.Hint = advice.Hint
	}
	if missing, ok := errors.AsType[*importer.MissingError](err); ok {
		for _, need := range missing.Needs {
			line.Missing = append(line.Missing, string(need.Field))
		}
	}
	s.writeJSON("error", line)
	return err
}

// writeJSON prints an object with one key, if JSON is asked for.
func (s *importScreen) writeJSON(key string, v any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.json == nil {
		return
	}
	s.screen.mu.Lock()
	defer s.screen.mu.Unlock()
	s.bar.clear() // stdout may be the same terminal
	b, err := json.Marshal(map[string]any{key: v})
	if err == nil {
		_, err = s.json.Write(append(hint.EscapeJSON(b), '\n'))
	}
	if s.failed == nil {
		s.failed = err
	}
}

// progress returns how far the import is.
func (s *importScreen) progress() progressJSON {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.progressAfter(time.Since(s.start).Seconds())
}

// progressAfter returns the progress of an import that has taken a time, in seconds. s.mu must be locked.
func (s *importScreen) progressAfter(took float64) progressJSON {
	box := s.plan.Part
	p := progressJSON{
		Bytes: s.stats.DoneBytes.Load(), AllBytes: s.stats.AllBytes.Load(), KeptBytes: s.stats.KeptBytes.Load(),
		Planes: int64(box.Max[2] - box.Min[2]), Seconds: took,
		Written: s.stats.Written.Load(), Kept: s.stats.Kept.Load(), Empty: s.stats.Empty.Load(),
	}
	p.Plane = min(max(s.stats.Plane.Load()-int64(box.Min[2]), 0), p.Planes)
	if done := p.Bytes - p.KeptBytes; done > 0 && took > 0 {
		p.Rate = float64(done) / took
		left := float64(p.AllBytes-p.Bytes) / p.Rate
		p.Left = &left
	}
	return p
}

// show draws the bar, or prints a line. Kept bytes are not part of the bar: they would make the rate too high.
func (s *importScreen) show() {
	p := s.progress()
	if p.AllBytes == 0 {
		return // a sample of the input is read
	}
	if s.bar == nil {
		s.print(progressText(p))
		return
	}
	s.draw(p.Bytes-p.KeptBytes, p.AllBytes-p.KeptBytes, fmt.Sprintf("plane %d of %d, %s", p.Plane, p.Planes,
		filesText(p.Written)))
}

// progressText returns a line of progress.
func progressText(p progressJSON) string {
	text := fmt.Sprintf("%s of %s imported, plane %d of %d", bytesText(p.Bytes), bytesText(p.AllBytes), p.Plane,
		p.Planes)
	if p.Left == nil {
		return text
	}
	left := time.Duration(*p.Left * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%s, %s/s, %v left", text, bytesText(int64(p.Rate)), left)
}

// importSummary returns a line with what was imported; "" if the import has not started.
func importSummary(p progressJSON) string {
	if p.AllBytes == 0 {
		return ""
	}
	var b strings.Builder
	took := time.Duration(p.Seconds * float64(time.Second)).Round(time.Millisecond)
	fmt.Fprintf(&b, "imported %s in %s", bytesText(p.Bytes-p.KeptBytes), took)
	if took >= time.Second {
		fmt.Fprintf(&b, " (%s/s)", bytesText(int64(p.Rate)))
	}
	fmt.Fprintf(&b, ": wrote %s", filesText(p.Written))
	if p.KeptBytes > 0 {
		fmt.Fprintf(&b, "; kept %s", bytesText(p.KeptBytes))
	}
	if p.Kept > 0 {
		fmt.Fprintf(&b, "; kept %s", filesText(p.Kept))
	}
	if p.Empty > 0 {
		fmt.Fprintf(&b, "; left out %d of zeros", p.Empty)
	}
	return b.String()
}
