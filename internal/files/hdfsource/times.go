package hdfsource

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// maxTimes is the number of mags of a file that are shown because it has several times. Each is a volume of its own.
const maxTimes = 10_000

// timeName returns the name of a layer at one of some times: NAME/t0000, or NAME if the file has one time.
func timeName(name string, time, times int) string {
	if times == 1 {
		return name
	}
	return path.Join(name, fmt.Sprintf("t%04d", time))
}

// show adds a layer, unless it has no mags.
func (t *tree) show(name string, l *layer) {
	if len(l.mags) > 0 {
		t.names, t.layers[name] = append(t.names, name), l
	}
}

// showTimes adds a layer whose datasets have an axis of times, as one layer for each.
func (t *tree) showTimes(name string, l *layer) {
	times := l.mags[0].times
	if times > 1 && !t.hasRoom(name, times*len(l.mags)) {
		return
	}
	for time := range times {
		one := &layer{source: l.source, names: l.names}
		for _, m := range l.mags {
			at := *m
			at.axes.at = time
			one.mags = append(one.mags, &at)
		}
		t.show(timeName(name, time, times), one)
	}
}

// hasRoom reports whether n more mags of times are shown. If they are not, it leaves out the object at a path.
func (t *tree) hasRoom(at string, n int) bool {
	if t.timed+n > t.maxTimes {
		t.leaveOut(at, true, fmt.Errorf("several times: expected at most %d volumes in a file, found more", t.maxTimes))
		return false
	}
	t.timed += n
	return true
}

// timesWithRoom returns the first times, as many as are shown. A time has the group of a name, and some mags.
func (t *tree) timesWithRoom(times []int, group func(time int) string, mags func(time int) int) []int {
	for i, time := range times {
		if len(times) > 1 && !t.hasRoom(group(time), max(1, mags(time))) {
			return times[:i]
		}
	}
	return times
}

// lateTimes is how many times of a file on a source that answers late are opened at once: the metadata of a time lie
// beside its voxels, far from those of the others. More would need more memory if a file is hostile.
const lateTimes = 16

// eachTime calls f for each time, with a tree of its own, and adds what they found.
func eachTime[R any](t *tree, times []int, f func(t *tree, time int) R) (results []R) {
	type found struct {
		*tree
		result R
	}
	n := 1
	if speed := vfs.SpeedOf(t.fsys); speed.Late || speed.Remote {
		n = lateTimes
	}
	for one := range parallel.InOrder(slices.Values(times), n, func(time int) found {
		own := &tree{source: t.source, file: t.file, layers: map[string]*layer{}}
		return found{own, f(own, time)}
	}) {
		t.names, t.left = append(t.names, one.names...), append(t.left, one.left...)
		maps.Copy(t.layers, one.layers)
		results = append(results, one.result)
	}
	return results
}

// exists reports whether there is an object at a path. Otherwise it is left out. It may be missing if it is optional.
func (t *tree) exists(at string, optional bool) bool {
	_, err := t.file.Lookup(at)
	if err != nil {
		t.leaveOut(at, !optional || !isMissing(err), t.located(err))
	}
	return err == nil
}

// isMissing reports whether an error says that there is no object at a path.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// timesIn returns the times whose groups are in a group, or 0 if there are none.
func (t *tree) timesIn(group, prefix string, digits int) []int {
	times, err := t.numbered(group, prefix, digits)
	if err != nil || len(times) == 0 {
		return []int{0} // its error says what is wrong
	}
	return times
}

// numbered returns the numbers of the objects in a group whose names are a prefix and a number of some digits.
func (t *tree) numbered(group, prefix string, digits int) (all []int, err error) {
	o, err := t.file.Lookup(group)
	if err != nil {
		return nil, err
	}
	g, ok := o.(*hdf5.Group)
	if !ok {
		return nil, fmt.Errorf("%s: expected a group, found a dataset", group)
	}
	names, err := g.Names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, prefix)
		n, err := strconv.Atoi(rest)
		if ok && err == nil && n >= 0 && fmt.Sprintf("%0*d", digits, n) == rest {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}
