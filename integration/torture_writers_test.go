package integration

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// writersTrial starts several processes that write the same dataset or directory at the same moment, and kills some of
// them. The commands that were killed are given again. Exit code 0 means that the voxels of the command are there, and
// that the metadata name its layer. No temporary file and no lock is left in the end.
var writersTrial = torture.New("writers", newWritersCase, runWriters)

type writersCase struct {
	Kind    int          `json:"kind"` // of the writers: an index of writerKinds
	Content torture.Seed `json:"content"`
	Size    [3]int       `json:"size"` // in voxels
	Cube    int          `json:"cube"` // voxels of a side
	Mags    int          `json:"mags,omitempty"`
	Raw     bool         `json:"raw,omitempty"`
	Same    bool         `json:"same,omitempty"` // the writers have the same input
	// of each writer: when it is killed, in µs after the start; 0: it is not
	Kills  []int `json:"kills,omitempty"`
	Rounds int   `json:"rounds"`
}

// writerKinds are what the writers do at the same time.
var writerKinds = []func(*writers){
	(*writers).importOneLayer, (*writers).replaceOneLayer, (*writers).importLayers, (*writers).importParts,
	(*writers).finishParts,
	(*writers).updateBoxes, (*writers).updateAndReplace, (*writers).updateAndImport, (*writers).copyFiles,
}

func newWritersCase(r *rand.Rand) writersCase {
	c := writersCase{
		Kind: r.IntN(len(writerKinds)), Content: torture.Seed(r.Uint64()), Cube: randomOf(r, []int{16, 32}),
		Mags: r.IntN(3), Raw: r.IntN(3) == 0,
		Same: r.IntN(4) == 0, Rounds: 1 + r.IntN(3),
	}
	for axis := range 3 {
		c.Size[axis] = 2 + r.IntN(60)
	}
	kill := r.IntN(2) == 0
	for range 2 + r.IntN(3) {
		at := 0
		if kill && r.IntN(2) == 0 {
			at = 1 + r.IntN(80_000)
		}
		c.Kills = append(c.Kills, at)
	}
	return c
}

func (c writersCase) valid() bool {
	for _, n := range c.Size {
		if n < 2 || n > 100 {
			return false
		}
	}
	return c.Kind >= 0 && c.Kind < len(writerKinds) && (c.Cube == 16 || c.Cube == 32) && c.Mags >= 0 && c.Mags <= 3 &&
		len(c.Kills) >= 2 && len(c.Kills) <= 8 &&
		c.Rounds >= 1 && c.Rounds <= 10
}

func runWriters(t testing.TB, c writersCase) {
	if !c.valid() {
		t.Skip("no writers")
	}
	for range c.Rounds {
		w := &writers{TB: t, writersCase: c, dir: tempDir(t)}
		w.dataset = filepath.Join(w.dir, "dataset")
		for i := range c.Kills {
			if c.Same {
				i = 0
			}
			w.voxels = append(w.voxels, w.random(i))
			w.inputs = append(w.inputs, w.save(i, [3]int{}, c.Size, w.voxels[i]))
		}
		writerKinds[c.Kind](w)
		w.checkLeft()
		os.RemoveAll(w.dir)
	}
}

// writers are the processes of one round.
type writers struct {
	testing.TB
	writersCase
	dir     string
	dataset string
	inputs  []string // of each writer: an NRRD file
	voxels  [][]byte // of each input
}

// random returns the voxels of a volume. Volumes of other numbers have other voxels everywhere.
func (w *writers) random(number int) []byte {
	r := rand.New(rand.NewPCG(uint64(w.Content), 1))
	b := make([]byte, 0, 4*w.Size[0]*w.Size[1]*w.Size[2])
	for len(b) < cap(b) {
		b = binary.LittleEndian.AppendUint32(b, 1+16*(r.Uint32()>>8&0xff)+uint32(number))
	}
	return b
}

// save writes voxels of a box as an NRRD file.
func (w *writers) save(number int, at, size [3]int, voxels []byte) string {
	header := fmt.Sprintf(
		"NRRD0004\ntype: uint32\ndimension: 3\nspace dimension: 3\nspace units: \"nm\" \"nm\" \"nm\"\nsizes: %d %d %d\n"+
			"space directions: (10,0,0) (0,10,0) (0,0,30)\nspace origin: (%d,%d,%d)\nencoding: raw\nendian: little\n\n",
		size[0], size[1], size[2], 10*at[0], 10*at[1], 30*at[2])
	return writeFile(w, filepath.Join(w.dir, fmt.Sprintf("in/%d-%v.nrrd", number, at)),
		append([]byte(header), voxels...))
}

// command returns the arguments of an import.
func (w *writers) command(input, layer string, more ...string) []string {
	args := []string{"import", "-q", input, w.dataset, "--layer", layer}
	if !slices.Contains(more, "--update") {
		args = append(args, "--block", "8", "--cube", fmt.Sprint(w.Cube), "--mags", fmt.Sprint(w.Mags), "--category",
			"segmentation")
		if w.Raw {
			args = append(args, "--compression", "raw")
		}
	}
	return append(args, more...)
}

// killed is the exit code of a process that was killed.
const killed = -1

// together starts the commands at the same moment, kills those that the case kills, and returns their exit codes. A
// command that fails must have one of the reasons.
func (w *writers) together(commands [][]string, reasons ...string) (codes []int) {
	barrier, start, err := os.Pipe()
	if err != nil {
		w.Fatal(err)
	}
	defer start.Close()
	all := make([]*exec.Cmd, len(commands))
	outputs := make([]bytes.Buffer, len(commands))
	for i, args := range commands {
		// The shell waits until the pipe is closed, and becomes the program.
		cmd := exec.Command("/bin/sh", append([]string{"-c", `read x; exec "$0" "$@"`, program}, args...)...)
		cmd.Stdin, cmd.Stderr = barrier, &outputs[i]
		if err := cmd.Start(); err != nil {
			w.Fatal(err)
		}
		all[i] = cmd
	}
	barrier.Close()
	start.Close()
	for i, cmd := range all {
		if i < len(w.Kills) && w.Kills[i] > 0 {
			timer := time.AfterFunc(time.Duration(w.Kills[i])*time.Microsecond, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
		}
		late := time.AfterFunc(2*deadline, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
	}
	for i, cmd := range all {
		_ = cmd.Wait() // the state says it
		codes = append(codes, cmd.ProcessState.ExitCode())
		if codes[i] == killed && (i >= len(w.Kills) || w.Kills[i] == 0) {
			w.Fatalf("%q did not end in time", commands[i])
		}
		w.checkReason(commands[i], codes[i], outputs[i].String(), reasons)
	}
	return codes
}

func (w *writers) checkReason(args []string, code int, stderr string, reasons []string) {
	if code != 0 && code != killed && (crashIn(stderr) >= 0 ||
		!slices.ContainsFunc(reasons, func(r string) bool { return strings.Contains(stderr, r) })) {
		w.Fatalf("wkwfs %q: exit code %d, stderr %s; want one of %q", args, code, stderr, reasons)
	}
}

// again gives the commands that were killed again, one after the other, and changes their codes. It returns the last
// command that succeeded then, or -1.
func (w *writers) again(commands [][]string, codes []int, reasons ...string) (last int) {
	last = -1
	for i, args := range commands {
		if codes[i] != killed {
			continue
		}
		r := wkwfs(w, args...)
		codes[i] = r.code
		w.checkReason(args, r.code, r.stderr, reasons)
		if r.code == 0 {
			last = i
		}
	}
	return last
}

// Reasons of commands that fail beside others.
const (
	reasonBusy       = "another process is writing here"
	reasonExists     = "the layer exists already"
	reasonUnfinished = "an import of another input, or with other settings, is not finished"
	reasonReplaced   = "another import has written the layer at the same time"
)

// volume returns the voxels of a layer.
func (w *writers) volume(layer string) []byte {
	out := filepath.Join(w.dir, "volume.raw")
	mustRun(w, "cp", "-q", "--force", w.dataset, layer+"/1/volume.raw", out)
	b, err := os.ReadFile(out)
	if err != nil {
		w.Fatal(err)
	}
	return b
}

// checkLayers checks that the metadata name exactly the layers, and returns the largest id of each.
func (w *writers) checkLayers(want ...string) (largest []uint32) {
	var meta struct {
		DataLayers []struct {
			Name             string
			LargestSegmentID uint32
		}
	}
	b, err := os.ReadFile(filepath.Join(w.dataset, propertiesFile))
	if err == nil {
		err = json.Unmarshal(b, &meta)
	}
	var names []string
	for _, l := range meta.DataLayers {
		names, largest = append(names, l.Name), append(largest, l.LargestSegmentID)
	}
	slices.Sort(names)
	slices.Sort(want)
	if err != nil || !slices.Equal(names, want) {
		w.Fatalf("the metadata have the layers %q, want %q: %v", names, want, err)
	}
	return largest
}

// checkOf checks that a layer has the voxels of a writer that succeeded.
func (w *writers) checkOf(layer string, codes []int) (whose int) {
	got := w.volume(layer)
	for i, v := range w.voxels {
		if codes[i] == 0 && bytes.Equal(got, v) {
			return i
		}
	}
	w.Fatalf("layer %s has the voxels of no command that succeeded; exit codes %v", layer, codes)
	return -1
}

// checkLeft checks that no file of a writer is left. Of a layer that was not written again, or that was refused, there
// may be some.
func (w *writers) checkLeft() {
	for name := range contents(w, w.dir) {
		base := filepath.Base(name)
		if strings.HasPrefix(base, ".") || strings.HasSuffix(base, ".part") || strings.HasSuffix(base, ".part.json") {
			w.Errorf("%s is left", name)
		}
	}
	if _, err := os.Stat(filepath.Join(w.dataset, propertiesFile)); err == nil {
		if r := wkwfs(w, "check", w.dataset); r.code != 0 {
			w.Errorf("check: exit code %d: %s%s", r.code, r.stdout, r.stderr)
		}
	}
}

func (w *writers) each(do func(i int) []string) (commands [][]string) {
	for i := range w.Kills {
		commands = append(commands, do(i))
	}
	return commands
}

// importOneLayer imports different inputs into one layer. One of them succeeds, or is complete when it is killed.
func (w *writers) importOneLayer() {
	commands := w.each(func(i int) []string { return w.command(w.inputs[i], "l") })
	reasons := []string{reasonBusy, reasonExists, reasonUnfinished}
	codes := w.together(commands, reasons...)
	first := slices.Clone(codes)
	w.again(commands, codes, reasons...)
	w.checkLayers("l")
	succeeded := 0
	for i, code := range codes {
		switch {
		case code == 0:
			succeeded++
		case first[i] == killed && bytes.Equal(w.volume("l"), w.voxels[i]): // it was complete
			codes[i] = 0
			succeeded++
		}
	}
	if !w.Same && succeeded != 1 {
		w.Fatalf("%d imports have succeeded: exit codes %v, at first %v", succeeded, codes, first)
	}
	w.checkOf("l", codes)
}

// replaceOneLayer is importOneLayer with --force.
func (w *writers) replaceOneLayer() {
	commands := w.each(func(i int) []string { return w.command(w.inputs[i], "l", "--force") })
	codes := w.together(commands, reasonBusy)
	if last := w.again(commands, codes); last >= 0 {
		for i := range codes {
			if i != last {
				codes[i] = 1 // it was replaced
			}
		}
	}
	w.checkLayers("l")
	w.checkOf("l", codes)
}

// importLayers imports a layer with each command.
func (w *writers) importLayers() {
	commands := w.each(func(i int) []string { return w.command(w.inputs[i], fmt.Sprint("layer", i)) })
	codes := w.together(commands)
	w.again(commands, codes, reasonExists)
	var names []string
	for i := range w.Kills {
		names = append(names, fmt.Sprint("layer", i))
		if !bytes.Equal(w.volume(names[i]), w.voxels[i]) {
			w.Errorf("the voxels of %s differ", names[i])
		}
	}
	w.checkLayers(names...)
}

// importParts imports parts of two inputs. All that succeed are of one of them, which can be finished.
func (w *writers) importParts() {
	n := (len(w.Kills) + 1) / 2
	part := func(i int) []string {
		return w.command(w.inputs[i%2], "l", "--part", fmt.Sprintf("%d/%d", i/2+1, n))
	}
	commands := w.each(part)
	codes := w.together(commands, reasonUnfinished, reasonReplaced)
	w.again(commands, codes, reasonUnfinished)
	var succeeded [2]bool
	for i, code := range codes {
		if code == 0 {
			succeeded[i%2] = true
		}
	}
	if succeeded[0] == succeeded[1] && !w.Same {
		w.Fatalf("parts of inputs have succeeded: %v; exit codes %v", succeeded, codes)
	}
	winner := 0
	if succeeded[1] {
		winner = 1
	}
	for i := range n {
		mustRun(w, part(2*i+winner)...)
	}
	w.Kills = []int{0, 0}
	finish := [][]string{w.command(w.inputs[winner], "l", "--finish"), w.command(w.inputs[1-winner], "l", "--finish")}
	codes = w.together(finish, reasonBusy, reasonExists, reasonUnfinished)
	if codes[0] != 0 && codes[1] != 0 { // it was busy
		codes[0] = wkwfs(w, finish[0]...).code
	}
	if codes[0] != 0 && !(w.Same && codes[1] == 0) || !w.Same && codes[1] == 0 {
		w.Fatalf("--finish: exit codes %v", codes)
	}
	w.checkLayers("l")
	if !bytes.Equal(w.volume("l"), w.voxels[winner]) {
		w.Error("the voxels differ")
	}
}

// finishParts finishes an import while its parts run, some of them twice.
func (w *writers) finishParts() {
	n := len(w.Kills)
	part := func(i int) []string { return w.command(w.inputs[0], "l", "--part", fmt.Sprintf("%d/%d", i+1, n)) }
	for i := range n - 1 {
		mustRun(w, part(i)...)
	}
	finish := w.command(w.inputs[0], "l", "--finish")
	commands := [][]string{part(n - 1), finish, part(0), finish}
	const missing = "parts"
	codes := w.together(commands, reasonBusy, reasonExists, missing)
	w.again(commands, codes, reasonExists, missing)
	if r := wkwfs(w, part(n-1)...); r.code != 0 {
		w.checkReason(part(n-1), r.code, r.stderr, []string{reasonExists})
	}
	if r := wkwfs(w, finish...); r.code != 0 {
		w.checkReason(finish, r.code, r.stderr, []string{reasonExists})
	}
	w.checkLayers("l")
	if !bytes.Equal(w.volume("l"), w.voxels[0]) {
		w.Error("the voxels differ")
	}
}

// copyFiles copies the files of different sources to the same names. Each file of a copy that succeeds is there.
func (w *writers) copyFiles() {
	target := filepath.Join(w.dir, "target")
	if err := os.Mkdir(target, 0o755); err != nil {
		w.Fatal(err)
	}
	to := w.dataset
	var want []map[string][]byte
	commands := w.each(func(i int) []string {
		source := i
		if w.Same {
			source = 0
		}
		w.dataset = filepath.Join(w.dir, fmt.Sprint("sources/", source))
		if source == i {
			mustRun(w, w.command(w.inputs[i], "l")...)
		}
		alone := filepath.Join(w.dir, fmt.Sprint("alone/", i))
		if err := os.MkdirAll(alone, 0o755); err != nil {
			w.Fatal(err)
		}
		mustRun(w, "cp", "-q", w.dataset, "l/1/.", alone)
		want = append(want, contents(w, alone))
		return []string{"cp", "-q", w.dataset, "l/1/.", target}
	})
	w.dataset = to
	codes := w.together(commands, "could not be copied", reasonBusy)
	w.again(commands, codes, "could not be copied")
	got := contents(w, target)
	for i, code := range codes {
		for name, b := range want[i] {
			if code == 0 && !bytes.Equal(got[name], b) {
				w.Errorf("%s is not that of copy %d, which has succeeded; exit codes %v", name, i, codes)
			}
		}
	}
	for name, b := range got {
		if !strings.Contains(name, ".part") && !slices.ContainsFunc(want,
			func(files map[string][]byte) bool { return bytes.Equal(files[name], b) }) {
			w.Errorf("%s is not that of any copy; exit codes %v", name, codes)
		}
	}
	if r := wkwfs(w, commands[0]...); r.code != 0 { // it takes what was left by copies that were killed, or was refused
		os.RemoveAll(target)
	}
}
