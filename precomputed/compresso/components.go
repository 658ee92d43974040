package compresso

import (
	"bytes"
	"fmt"
)

// run is a run of voxels off the boundary, within one row: the voxels x with
// begin ≤ x < end.
type run struct {
	begin, end uint16
	parent     int // a run before it of the same component; itself if it is the first
}

// runs are all runs of some slices, in the order of the volume. They are a forest, a
// tree for each component, whose root is the first of its runs.
type runs []run

// root returns the first run of a component and shortens the way to it.
func (r runs) root(i int) int {
	for r[i].parent != i {
		r[i].parent = r[r[i].parent].parent
		i = r[i].parent
	}
	return i
}

// join makes one component of those runs of two rows that touch. Rows are given by
// where their runs begin and end.
func (r runs) join(a, aEnd, b, bEnd int) {
	for a < aEnd && b < bEnd {
		if r[a].begin < r[b].end && r[b].begin < r[a].end {
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

// appendRow appends the runs of a row.
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

// labelComponents finds the connected components of voxels off the boundary and gives
// them their labels. Components are numbered in the order of their first voxels.
func (c *chunk) labelComponents() error {
	slices, number := 1, 0
	if c.connectivity == 6 {
		slices = c.size[2]
	}
	var r runs
	var rows []int // where the runs of each row begin, and the end of all
	for z := 0; z < c.size[2]; z += slices {
		r, rows = r[:0], rows[:0]
		for row := range c.size[1] * slices {
			rows = append(rows, len(r))
			begin := (z*c.size[1] + row) * c.size[0]
			r = r.appendRow(c.boundary[begin:][:c.size[0]])
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

// labelRuns gives runs the labels of their components, the first of which has this
// number, and returns the number of the next component. The runs are of rows that
// begin with that row of the chunk.
func (c *chunk) labelRuns(r runs, rows []int, row, number int) (int, error) {
	for i := range len(rows) - 1 {
		at := (row + i) * c.size[0]
		for n := rows[i]; n < rows[i+1]; n++ {
			out := c.dst[(at+int(r[n].begin))*c.width : (at+int(r[n].end))*c.width]
			if r[n].parent != n {
				// Parents come first, and were replaced by numbers.
				r[n].parent = r[r[n].parent].parent
			} else {
				if number == c.ids.len() {
					return 0, c.ids.fault(number, "a label for every component", fmt.Sprintf("%d labels", number))
				}
				r[n].parent = number
				number++
			}
			fill(out, c.ids.data[r[n].parent*c.width:][:c.width])
		}
	}
	return number, nil
}

// fill repeats a label.
func fill(out, label []byte) {
	for n := copy(out, label); n < len(out); n *= 2 {
		copy(out[n:], out[:n])
	}
}
