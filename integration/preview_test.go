package integration

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/serve/render"
)

// previewOn runs wkwfs info --preview on a terminal of columns × lines cells of 8 × 16 pixels, and returns what the
// terminal gets.
func previewOn(t *testing.T, source string, env []string, columns, lines uint16) string {
	t.Helper()
	screen, end := terminal(t, lines, columns)
	before := termios(t, screen)
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "info", "--preview", source)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = end, end, end
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = all.ReadFrom(screen) // EIO: nobody has the terminal open
	}()
	err := cmd.Wait()
	if after := termios(t, screen); after != before {
		t.Errorf("the terminal had the mode %v, now it has %v", before, after)
	}
	end.Close()
	<-done
	if err != nil {
		t.Fatalf("%v: %q", err, all.String())
	}
	return strings.ReplaceAll(all.String(), "\r\n", "\n")
}

func termios(t *testing.T, f *os.File) unix.Termios {
	t.Helper()
	mode, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *mode
}

// TestPreviewOnTerminal decodes what terminals of all kinds get, and compares the pixels with the voxels.
func TestPreviewOnTerminal(t *testing.T) {
	t.Parallel()
	grey := model{blockLog: 4, cubeLog: 1, blockType: 2, voxelType: 1, channels: 1}
	rgb := model{blockLog: 4, cubeLog: 1, blockType: 1, voxelType: 1, channels: 3}
	for _, test := range []struct {
		name    string
		m       model
		env     []string
		colours bool
	}{
		{"colours", rgb, []string{"TERM=xterm-256color", "COLORTERM=truecolor"}, true},
		{"grey", grey, []string{"TERM=xterm-kitty"}, true},
		{"dumb", grey, []string{"TERM=dumb"}, false},
		{"NO_COLOR", grey, []string{"TERM=xterm-kitty", "NO_COLOR=1"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			source := tempDir(t)
			test.m.write(t, filepath.Join(source, "color", "1"), 0, 0, 0)
			test.m.writeHeader(t, filepath.Join(source, "color", "1"))
			text := previewOn(t, source, test.env, 32, 16+4) // 32 × 32 pixels, and the lines below
			if !test.colours {
				if strings.Contains(text, "\x1b") || strings.Count(text, "\n") != 16+1 {
					t.Errorf("got %q, want text", text)
				}
				return
			}
			img, rest := decodeBlocks(text)
			comparePlane(t, img, test.m, 16)
			if !strings.Contains(rest, "color, mag 1, z 16 of 0-32, 32 × 32 voxels") {
				t.Errorf("below the picture: %q", rest)
			}
		})
	}
}

var halfBlock = regexp.MustCompile("(?:\x1b\\[38;2;(\\d+);(\\d+);(\\d+);48;2;(\\d+);(\\d+);(\\d+)m)?▀")

func decodeBlocks(text string) (image.Image, string) {
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
func comparePlane(t *testing.T, img image.Image, m model, z int) {
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
		if [3]uint8{got.R, got.G, got.B} != want {
			t.Fatalf("pixel %d,%d is %v, want %v", x, y, got, want)
		}
	}
}
