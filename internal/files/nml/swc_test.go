package nml

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSWC(t *testing.T) {
	nodes := func(ids ...int64) (all []Node) {
		for i, id := range ids {
			all = append(all, Node{id, 100 * float64(i), [3]float64{float64(i), 2, 3.5}})
		}
		return all
	}
	const end = "# id type x y z radius parent\n"
	for _, c := range []struct {
		what    string
		tree    Tree
		spacing [3]float64
		want    string
	}{
		{"a branch", Tree{Name: "a\n\"b\"", Nodes: nodes(7, 5, 9, 8), Edges: [][2]int64{{5, 7}, {5, 8}, {9, 5}}},
			[3]float64{11.24, 11.24, 25},
			"# tree \"a\\n\\\"b\\\"\" of an annotation of WEBKNOSSOS\n# unit: micrometers\n" + end +
				"7 0 0 0.02248 0.0875 0 -1\n5 0 0.01124 0.02248 0.0875 0.1 7\n8 0 0.03372 0.02248 0.0875 0.3 5\n9 0 0.02248 0.02248 0.0875 0.2 5\n"},
		{"parts, a loop, an edge twice, and one of a node to itself",
			Tree{Nodes: nodes(1, 2, 3, 4), Edges: [][2]int64{{1, 2}, {2, 3}, {3, 1}, {1, 2}, {4, 4}}}, [3]float64{},
			"# tree \"\" of an annotation of WEBKNOSSOS\n# unit: voxels of mag 1; of the radius: nanometers\n# left out, because SWC has no loops: 3 edges\n" + end +
				"1 0 0 2 3.5 0 -1\n2 0 1 2 3.5 100 1\n3 0 2 2 3.5 200 2\n4 0 3 2 3.5 300 -1\n"},
		{"negative ids", Tree{Name: "n", Nodes: nodes(-1, 3), Edges: [][2]int64{{3, -1}}}, [3]float64{1000, 1000, 1000},
			"# tree \"n\" of an annotation of WEBKNOSSOS\n# unit: micrometers\n# nodes are counted from 1, because some have negative ids\n" + end +
				"1 0 0 2 3.5 0 -1\n2 0 1 2 3.5 0.1 1\n"},
		{"no nodes", Tree{Name: "n"}, [3]float64{},
			"# tree \"n\" of an annotation of WEBKNOSSOS\n# unit: voxels of mag 1; of the radius: nanometers\n" + end},
	} {
		if got, err := c.tree.SWC(c.spacing); string(got) != c.want || err != nil {
			t.Errorf("%s: got\n%s%v\nexpected\n%s", c.what, got, err, c.want)
		}
	}
	for want, tree := range map[string]Tree{
		"node 2: expected each id once":                       {Nodes: nodes(2, 1, 2)},
		"edge from 1 to 3: expected nodes of the tree":        {Nodes: nodes(2, 1), Edges: [][2]int64{{1, 3}}},
		"node 1: expected a position in the range of numbers": {Nodes: []Node{{ID: 1, At: [3]float64{1e300}}}},
	} {
		if _, err := tree.SWC([3]float64{1e300, 1, 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, expected %q", err, want)
		}
	}
}

// TestSWCRandom: in random graphs, each node is there once, after its parent, and each parent is a neighbour. There are
// as many roots as parts.
func TestSWCRandom(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		n := 1 + r.IntN(40)
		tree := Tree{}
		part := make([]int, n)
		for i, id := range r.Perm(n) {
			tree.Nodes, part[i] = append(tree.Nodes, Node{ID: int64(id)}), i
		}
		beside := map[[2]int64]bool{}
		parts := n
		for range r.IntN(2 * n) {
			a, b := r.IntN(n), r.IntN(n)
			e := [2]int64{tree.Nodes[a].ID, tree.Nodes[b].ID}
			tree.Edges = append(tree.Edges, e)
			beside[e], beside[[2]int64{e[1], e[0]}] = true, true
			if from, to := part[a], part[b]; from != to {
				parts--
				for i := range part {
					if part[i] == from {
						part[i] = to
					}
				}
			}
		}
		b, err := tree.SWC([3]float64{})
		if err != nil {
			t.Fatal(err)
		}
		seen, roots := map[int64]bool{}, 0
		for line := range strings.Lines(string(b)) {
			var id, kind, parent int64
			var x, y, z, radius float64
			if strings.HasPrefix(line, "#") {
				continue
			}
			if _, err := fmt.Sscan(line, &id, &kind, &x, &y, &z, &radius, &parent); err != nil {
				t.Fatal(err)
			}
			switch {
			case seen[id]:
				t.Fatalf("seed %d: node %d is there twice", seed, id)
			case parent == -1:
				roots++
			case !seen[parent] || !beside[[2]int64{id, parent}]:
				t.Fatalf("seed %d: node %d has the parent %d", seed, id, parent)
			}
			seen[id] = true
		}
		if len(seen) != n || roots != parts {
			t.Fatalf("seed %d: %d nodes and %d roots, expected %d and %d", seed, len(seen), roots, n, parts)
		}
	}
}
