package integration

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-sixel"
	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/render"
)

// asked ends the questions of the program.
const asked = "\x1b[c"

// shown is what a terminal got, and how the program ended.
type shown struct {
	text  string // after the questions
	asked bool
	took  time.Duration
	state *os.ProcessState
}

// previewOn runs wkwfs info --preview on a terminal of columns × lines cells of 8 × 16 pixels, which answers a question. If foreign, it
// is not the terminal of the session.
func previewOn(t *testing.T, source, answer string, env []string, columns, lines uint16, foreign bool) shown {
	t.Helper()
	screen, end := terminal(t, lines, columns)
	size := unix.Winsize{Row: lines, Col: columns, Xpixel: columns * 8, Ypixel: lines * 16}
	if err := unix.IoctlSetWinsize(int(end.Fd()), unix.TIOCSWINSZ, &size); err != nil {
		t.Fatal(err)
	}
	before := termios(t, screen)
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "info", "--preview", source)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = end, end, end
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: !foreign}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	s := shown{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := screen.Read(buf)
			all.Write(buf[:n])
			if bytes.Contains(all.Bytes(), []byte(asked)) && !s.asked {
				s.asked = true
				screen.WriteString(answer)
			}
			if err != nil { // EIO: nobody has the terminal open
				return
			}
		}
	}()
	_ = cmd.Wait() // the state has the error
	s.state, s.took = cmd.ProcessState, time.Since(start)
	if after := termios(t, screen); after != before {
		t.Errorf("the terminal had the mode %v, now it has %v", before, after)
	}
	end.Close()
	<-done
	s.text = strings.ReplaceAll(all.String(), "\r\n", "\n")
	if _, rest, ok := strings.Cut(s.text, asked+"\r\x1b[K"); ok {
		s.text = rest
	}
	return s
}

func termios(t *testing.T, f *os.File) unix.Termios {
	t.Helper()
	mode, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *mode
}

const (
	kittyAnswer = "\x1b_Gi=31;OK\x1b\\\x1b[6;16;8t\x1b[?62c"
	sixelAnswer = "\x1b[6;16;8t\x1b[?62;4c"
	plainAnswer = "\x1b[?62;22c"
)

// TestPreviewOnTerminal decodes what terminals of all kinds get, and compares the pixels with the voxels.
func TestPreviewOnTerminal(t *testing.T) {
	t.Parallel() // some terminals do not answer
	grey := model{blockLog: 4, cubeLog: 1, blockType: 2, voxelType: 1, channels: 1}
	rgb := model{blockLog: 4, cubeLog: 1, blockType: 1, voxelType: 1, channels: 3}
	for _, test := range []struct {
		name    string
		m       model
		env     []string
		answer  string
		foreign bool
		asks    bool
		decode  func(t *testing.T, text string) (img image.Image, rest string)
		differ  int // how much colours may differ
	}{
		{"kitty", rgb, []string{"TERM=xterm-256color"}, kittyAnswer, false, true, decodeKitty, 0},
		{"sixel", grey, []string{"TERM=xterm-256color"}, sixelAnswer, false, true, decodeSixel, 2},
		{"blocks", rgb, []string{"TERM=xterm-256color", "COLORTERM=truecolor"}, plainAnswer, false, true, decodeBlocks, 0},
		{"kitty in tmux", rgb, []string{"TERM=tmux-256color", "COLORTERM=24bit"}, plainAnswer, false, true, decodeBlocks, 0},
		{"no answer", rgb, []string{"TERM=xterm", "COLORTERM=truecolor"}, "", false, true, decodeBlocks, 0},
		{"another terminal", rgb, []string{"TERM=xterm", "COLORTERM=truecolor"}, kittyAnswer, true, false, decodeBlocks, 0},
		{"dumb", grey, []string{"TERM=dumb"}, kittyAnswer, false, false, nil, 0},
		{"NO_COLOR", grey, []string{"TERM=xterm-kitty", "NO_COLOR=1"}, kittyAnswer, false, false, nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			source := tempDir(t)
			test.m.write(t, filepath.Join(source, "color", "1"), 0, 0, 0)
			test.m.writeHeader(t, filepath.Join(source, "color", "1"))
			columns, lines := uint16(4), uint16(2+4) // 32 × 32 pixels, and the lines below
			if test.name != "kitty" && test.name != "sixel" {
				columns, lines = 32, 16+4
			}
			s := previewOn(t, source, test.answer, test.env, columns, lines, test.foreign)
			if !s.state.Success() || s.asked != test.asks {
				t.Fatalf("%v, asked: %v\n%q", s.state, s.asked, s.text)
			}
			if s.took > 30*time.Second {
				t.Errorf("it took %v", s.took)
			}
			if test.decode == nil {
				if strings.Contains(s.text, "\x1b") || strings.Count(s.text, "\n") != 16+1 {
					t.Errorf("got %q, want text", s.text)
				}
				return
			}
			img, rest := test.decode(t, s.text)
			comparePlane(t, img, test.m, 16, test.differ)
			if !strings.Contains(rest, "color, mag 1, z 16 of 0-32, 32 × 32 voxels") {
				t.Errorf("below the picture: %q", rest)
			}
		})
	}
}

// TestPreviewInterrupted: a Ctrl-C while the terminal does not answer ends the program.
func TestPreviewInterrupted(t *testing.T) {
	t.Parallel()
	s := previewOn(t, dataset(t), "\x03", []string{"TERM=xterm"}, 80, 24, false)
	if !s.asked || s.state.Success() || strings.Contains(s.text, "▀") {
		t.Errorf("%v: %q", s.state, s.text)
	}
}

var kittyChunk = regexp.MustCompile("\x1b_G[^;]*;([A-Za-z0-9+/=]*)\x1b\\\\")

func decodeKitty(t *testing.T, text string) (image.Image, string) {
	var data strings.Builder
	for _, m := range kittyChunk.FindAllStringSubmatch(text, -1) {
		data.WriteString(m[1])
	}
	img, err := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data.String())))
	if err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	return img, kittyChunk.ReplaceAllString(text, "")
}

func decodeSixel(t *testing.T, text string) (image.Image, string) {
	picture, rest, ok := strings.Cut(text, "\x1b\\")
	var img image.Image
	if err := sixel.NewDecoder(strings.NewReader(picture + "\x1b\\")).Decode(&img); err != nil || !ok || img == nil {
		t.Fatalf("%v: %q", err, text)
	}
	return img, rest
}

var halfBlock = regexp.MustCompile("(?:\x1b\\[38;2;(\\d+);(\\d+);(\\d+);48;2;(\\d+);(\\d+);(\\d+)m)?▀")

func decodeBlocks(t *testing.T, text string) (image.Image, string) {
	img := image.NewNRGBA(image.Rect(0, 0, 32, 32))
	lines := strings.SplitAfter(text, "\x1b[0m\n")
	for i, line := range lines[:len(lines)-1] {
		var upper, lower color.NRGBA
		for x, m := range halfBlock.FindAllStringSubmatch(line, -1) {
			if m[1] != "" {
				upper, lower = parseColour(m[1:4]), parseColour(m[4:7])
			}
			img.SetNRGBA(x, 2*i, upper)
			img.SetNRGBA(x, 2*i+1, lower)
		}
	}
	return img, lines[len(lines)-1]
}

func parseColour(rgb []string) color.NRGBA {
	var c [3]uint8
	for i, text := range rgb {
		n, _ := strconv.Atoi(text) // the expression has found digits
		c[i] = uint8(n)
	}
	return color.NRGBA{c[0], c[1], c[2], 255}
}

// comparePlane compares a picture with plane z of a model, pixel by voxel.
func comparePlane(t *testing.T, img image.Image, m model, z, differ int) {
	t.Helper()
	if size := img.Bounds().Size(); size != image.Pt(m.side(), m.side()) {
		t.Fatalf("the picture has %v pixels", size)
	}
	var values []float64
	for i := range m.side() * m.side() {
		values = append(values, float64(m.byteAt(i%m.side(), i/m.side(), z, 0)))
	}
	window := render.WindowOf(values)
	for i, v := range values {
		x, y := i%m.side(), i/m.side()
		want := [3]uint8{window.Grey(v), window.Grey(v), window.Grey(v)}
		for channel := range 3 {
			if m.channels == 3 {
				want[channel] = m.byteAt(x, y, z, channel)
			}
		}
		got := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
		for channel, v := range [3]uint8{got.R, got.G, got.B} {
			if d := int(v) - int(want[channel]); max(d, -d) > differ {
				t.Fatalf("pixel %d,%d is %v, want %v", x, y, got, want)
			}
		}
	}
}
