package nml

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// SWC returns a tree in the format SWC: a line for each node, with its number, type, position, radius and parent.
// Parents come before their children. A tree of several parts has several roots, whose parent is -1. spacing is the
// size of a voxel of mag 1 in nm: then lengths are in micrometers, as readers of SWC expect. If it is 0, positions are
// in voxels, and the radius is as the file has it. A comment says which.
//
// Numbers are the ids of nodes, unless one is negative. SWC has no loops: a comment says how many edges are left out.
// Two nodes of the same id, and an edge to another tree, are errors.
func (t *Tree) SWC(spacing [3]float64) ([]byte, error) {
	g, err := newGraph(t)
	if err != nil {
		return nil, fmt.Errorf("tree %.100q: %w", t.Name, err)
	}
	ids := !slices.ContainsFunc(t.Nodes, func(n Node) bool { return n.ID < 0 })
	order, parents := g.walk()
	b := t.comments(spacing, ids, len(t.Edges)-g.used)
	number := func(node int32) int64 {
		if ids {
			return t.Nodes[node].ID
		}
		return int64(node) + 1
	}
	for _, node := range order {
		b = strconv.AppendInt(b, number(node), 10)
		b = append(b, " 0"...) // the type: undefined
		for _, v := range scaled(t.Nodes[node], spacing) {
			if math.IsInf(v, 0) {
				return nil,
					fmt.Errorf("tree %.100q: node %d: expected a position in the range of numbers, found one beyond",
						t.Name, t.Nodes[node].ID)
			}
			b = strconv.AppendFloat(append(b, ' '), v, 'f', -1, 64)
		}
		parent := int64(-1)
		if p := parents[node]; p >= 0 {
			parent = number(p)
		}
		b = append(strconv.AppendInt(append(b, ' '), parent, 10), '\n')
	}
	return b, nil
}

// comments returns the lines before those of the nodes.
func (t *Tree) comments(spacing [3]float64, ids bool, loops int) []byte {
	b := fmt.Appendf(nil, "# tree %q of an annotation of WEBKNOSSOS\n", t.Name)
	if spacing == ([3]float64{}) {
		b = append(b, "# unit: voxels of mag 1; of the radius: nanometers\n"...)
	} else {
		b = append(b, "# unit: micrometers\n"...)
	}
	if !ids {
		b = append(b, "# nodes are counted from 1, because some have negative ids\n"...)
	}
	if loops > 0 {
		b = fmt.Appendf(b, "# left out, because SWC has no loops: %d edges\n", loops)
	}
	return append(b, "# id type x y z radius parent\n"...)
}

// scaled returns the position and the radius of a node in the unit of the file. What is less than a picometer is
// rounded.
func scaled(n Node, spacing [3]float64) [4]float64 {
	v := [4]float64{n.At[0], n.At[1], n.At[2], n.Radius}
	if spacing == ([3]float64{}) {
		return v
	}
	for i := range v {
		if i < 3 {
			v[i] *= spacing[i]
		}
		if v[i] /= 1000; math.Abs(v[i]) < 1e9 {
			v[i] = math.Round(v[i]*1e6) / 1e6
		}
	}
	return v
}

// graph is a tree with the neighbours of each node.
type graph struct {
	first      []int32 // of the neighbours of each node, and of none at the end
	neighbours []int32
	used       int // edges that walk has followed
}

func newGraph(t *Tree) (*graph, error) {
	sorted := make([]int32, len(t.Nodes)) // by their ids
	for i := range sorted {
		sorted[i] = int32(i)
	}
	slices.SortFunc(sorted, func(a, b int32) int { return cmp.Compare(t.Nodes[a].ID, t.Nodes[b].ID) })
	for i := range max(0, len(sorted)-1) {
		if id := t.Nodes[sorted[i]].ID; id == t.Nodes[sorted[i+1]].ID {
			return nil, fmt.Errorf("node %d: expected each id once, found it twice", id)
		}
	}
	ends := make([][2]int32, len(t.Edges))
	g := &graph{first: make([]int32, len(t.Nodes)+1), neighbours: make([]int32, 2*len(t.Edges))}
	for i, e := range t.Edges {
		for k, id := range e {
			at, ok := slices.BinarySearchFunc(sorted, id,
				func(n int32, id int64) int { return cmp.Compare(t.Nodes[n].ID, id) })
			if !ok {
				return nil, fmt.Errorf("edge from %d to %d: expected nodes of the tree, found no node %d", e[0], e[1],
					id)
			}
			ends[i][k] = sorted[at]
			g.first[sorted[at]]++
		}
	}
	sum := int32(0)
	for i, n := range g.first {
		sum += n
		g.first[i] = sum // of the next node, until all neighbours are entered
	}
	for _, e := range slices.Backward(ends) {
		for k, node := range e {
			g.first[node]--
			g.neighbours[g.first[node]] = e[1-k]
		}
	}
	return g, nil
}

// walk returns all nodes, each branch after its parent, and the parent of each node: -1 for that of a root.
func (g *graph) walk() (order, parents []int32) {
	n := len(g.first) - 1
	order, parents = make([]int32, 0, n), make([]int32, n)
	const unseen = -2
	for i := range parents {
		parents[i] = unseen
	}
	type step struct{ node, parent int32 }
	var stack []step
	for root := range int32(n) {
		stack = append(stack, step{root, -1})
		for len(stack) > 0 {
			s := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if parents[s.node] != unseen {
				continue
			}
			if parents[s.node] = s.parent; s.parent >= 0 {
				g.used++
			}
			order = append(order, s.node)
			for _, next := range slices.Backward(g.neighbours[g.first[s.node]:g.first[s.node+1]]) {
				if parents[next] == unseen {
					stack = append(stack, step{next, s.node})
				}
			}
		}
	}
	return order, parents
}
