package arrayfile

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
)

// imageJ has the values of the description that ImageJ writes into its TIFF files.
type imageJ map[string]string

func isImageJ(description string) bool { return strings.HasPrefix(description, "ImageJ=") }

func parseImageJ(description string) imageJ {
	values := imageJ{}
	for line := range strings.Lines(description) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[name] = value
	}
	return values
}

// number returns a value that is a number; 0 if there is none.
func (i imageJ) number(name string) float64 {
	v, err := strconv.ParseFloat(i[name], 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// unescaped returns a value in which ImageJ has written characters beyond ASCII as \uXXXX: \u00B5m is µm.
func unescaped(value string) string {
	if plain, err := strconv.Unquote(`"` + value + `"`); err == nil {
		return plain
	}
	return value
}

// count returns a value that is a number of pictures; 1 if there is none.
func (i imageJ) count(name string) int {
	if n, err := strconv.ParseUint(i[name], 10, 31); err == nil && n > 0 {
		return int(n)
	}
	return 1
}

// describe reads spacing and position. The resolution of other TIFF files is for printing, and rarely correct.
func (i imageJ) describe(a *Array, d *tiffDirectory) {
	unit := unitOf(unescaped(i["unit"]))
	if x, y := d.rational(tiff.TagXResolution), d.rational(tiff.TagYResolution); x > 0 && y > 0 {
		a.Grid.Spacing = [3]float64{validSpacing(unit / x), validSpacing(unit / y),
			validSpacing(unit * i.number("spacing"))}
	}
	if i["xorigin"] != "" || i["yorigin"] != "" || i["zorigin"] != "" {
		// ImageJ stores the pixel at which its calibrated coordinates are 0.
		at := [3]float64{-i.number("xorigin"), -i.number("yorigin"), -i.number("zorigin")}
		a.setPosition(d.f.Name(), at, [3]float64{1, 1, 1})
	}
}

// arrange implements [arrangement]. It returns the planes of a stack. Its pages have the order channel, slice, frame;
// the first is fastest. A stack above 4 GiB has one page, and the others follow without directories.
func (i imageJ) arrange(a *Array, d *tiffDirectory, pages []plane) ([]plane, error) {
	i.describe(a, d)
	images, channels := i.count("images"), i.count("channels")
	slices, frames := i.count("slices"), i.count("frames")
	if len(pages) == 1 && images > 1 {
		var err error
		if pages, err = repeat(pages[0], images); err != nil {
			return nil, err
		}
	}
	switch {
	case channels == 1 && frames > 1 && slices == 1:
		a.warn("ImageJ stack of %d frames: taken for planes", frames)
		return pages, nil
	case frames > 1 && len(pages)/channels/slices != frames:
		return nil, d.bad("frames in the description", d.at, fmt.Sprintf("%d × %d of %d pages", channels, slices,
			len(pages)), frames)
	case len(pages)%channels != 0:
		return nil, d.bad("channels in the description", d.at, fmt.Sprintf("a part of %d pages", len(pages)), channels)
	}
	return a.withTimes(d, pages, frames, channels, true)
}
