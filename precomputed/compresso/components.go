package compresso

import (
	"bytes"
	"fmt"
)

// run is a run of voxels off the boundary in one row: the voxels x with start ≤ x < end.
type run struct {
	start, end uint16
	parent     int // an earlier run of the same component, or the run itself if it is the first
}

// runs has all runs of some slices, in the order of the volume. It is a forest with one tree for each component. The
// root of a tree is the first run.
type runs []run

// root returns the first run of the component of run i. It shortens the path to it.
func (r runs) root(i int) int {
	for r[i].parent != i {
		r[i].parent = r[r[i].parent].parent
		i = r[i].parent
	}
	return i
}

// join joins the components of touching runs of two rows. The rows are runs a to aEnd and b to bEnd.
func (r runs) join(a, aEnd, b, bEnd int) {
	for a < aEnd && b < bEnd {
		if r[a].start < r[b].end && r[b].start < r[a].end {
			p, q := r.root(a), r.root(b)
			r[max(p, q)].parent = min(p, q)
		}
		if r[a].end < r[b].end {
			a++
		} else {
			b++
		}
	}
}

// appendRow appends the runs of a row. boundary has a byte per voxel of the row.
func (r runs) appendRow(boundary []byte) runs {
	for x := 0; x < len(boundary); {
		if boundary[x] != 0 {
			x++
			continue
		}
		end := len(boundary)
		if n := bytes.IndexByte(boundary[x:], 1); n >= 0 {
			end = x + n
		}
		r = append(r, run{uint16(x), uint16(end), len(r)})
		x = end
	}
	return r
}

// labelComponents finds the connected components of voxels off the boundary and sets their labels. Component n, in
// the order of the first voxels, has label n of the ids.
func (c *chunk) labelComponents() error {
	slices, number := 1, 0
	if c.connectivity == 6 {
		slices = c.size[2]
	}
	var r runs
	var rows []int // first run of each row, and the end of the last row
	for z := 0; z < c.size[2]; z += slices {
		r, rows = r[:0], rows[:0]
		for row := range c.size[1] * slices {
			rows = append(rows, len(r))
			start := (z*c.size[1] + row) * c.size[0]
			r = r.appendRow(c.boundary[start:][:c.size[0]])
			if row%c.size[1] > 0 {
				r.join(rows[row-1], rows[row], rows[row], len(r))
			}
			if row >= c.size[1] {
				above := row - c.size[1]
				r.join(rows[above], rows[above+1], rows[row], len(r))
			}
		}
		rows = append(rows, len(r))
		var err error
		if number, err = c.labelRuns(r, rows, z*c.size[1], number); err != nil {
			return err
		}
	}
	if number != c.ids.len() {
		return c.ids.fault(number, fmt.Sprintf("%d components", c.ids.len()), number)
	}
	return nil
}

// labelRuns sets the labels of runs. rows has the first run of each row, as in labelComponents, and row is the first
// of these rows in the chunk. number is the number of the first component. labelRuns returns the number after the
// last component.
func (c *chunk) labelRuns(r runs, rows []int, row, number int) (int, error) {
	for i := range len(rows) - 1 {
		at := (row + i) * c.size[0]
		for n := rows[i]; n < rows[i+1]; n++ {
			out := c.dst[(at+int(r[n].start))*c.width : (at+int(r[n].end))*c.width]
			if r[n].parent != n {
				// The parent is an earlier run. Its parent field now has the number of the component.
				r[n].parent = r[r[n].parent].parent
			} else {
				if number == c.ids.len() {
					return 0, c.ids.fault(number, "a label for each component", fmt.Sprintf("%d labels", number))
				}
				r[n].parent = number
				number++
			}
			fill(out, c.ids.data[r[n].parent*c.width:][:c.width])
		}
	}
	return number, nil
}

// fill fills out with a label.
func fill(out, label []byte) {
	for n := copy(out, label); n < len(out); n *= 2 {
		copy(out[n:], out[:n])
	}
}
