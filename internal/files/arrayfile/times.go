package arrayfile

import (
	"fmt"

	"github.com/wkwfs/wkwfs/volume"
)

// maxTimes is the number of points in time of a file. Each is a layer.
const maxTimes = 10_000

// severalTimes is the error of a file with several points in time for those who can have only one.
func severalTimes(a *Array) error {
	return &volume.UnsupportedError{File: a.Name(), Part: "points in time", Offset: -1,
		Expected: "one, such as t0000/1/volume.npy in a mount of the file", Found: fmt.Sprint(a.Times)}
}

// setTimes sets the number of points in time. It returns false if the array cannot have that many.
func (a *Array) setTimes(n int) bool {
	if n > 1 && n <= maxTimes {
		a.Times = n
	}
	return n >= 1 && n <= maxTimes
}

// withTimes joins the channels of planes, of one time after the other.
func (a *Array) withTimes(d *tiffDirectory, pages []plane, times, channels int, fastest bool) (all []plane, err error) {
	if !a.setTimes(times) || len(pages)%times != 0 {
		return nil, d.bad("points in time", d.at, fmt.Sprintf("1 to %d, and a part of %d pages", maxTimes, len(pages)),
			times)
	}
	per := len(pages) / times
	for t := range times {
		joined, err := withChannels(pages[t*per:][:per], channels, fastest)
		if err != nil {
			return nil, err
		}
		all = append(all, joined...)
	}
	return all, nil
}
