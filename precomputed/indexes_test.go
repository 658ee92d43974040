package precomputed

import "testing"

func TestIndexes(t *testing.T) {
	key := func(n int) indexKey { return indexKey{minishardID: minishardID{minishard: uint64(n)}} }
	one := make(minishardIndex, 10).memory()
	x := newIndexes(3 * one)
	for n := range 3 {
		x.add(key(n), make(minishardIndex, 10))
	}
	x.add(key(1), make(minishardIndex, 10))
	x.get(key(0))
	x.add(key(2), make(minishardIndex, 10))
	x.add(key(3), make(minishardIndex, 10))
	for n, want := range []bool{true, false, true, true} {
		if _, kept := x.get(key(n)); kept != want {
			t.Errorf("index %d: kept %v, expected %v", n, kept, want)
		}
	}
	x.add(key(4), make(minishardIndex, 1000))
	if _, kept := x.get(key(4)); !kept || x.kept.Len() != 1 {
		t.Errorf("kept %v, %d indexes: expected only the one that is larger than the budget", kept, x.kept.Len())
	}
	if a, b := newShards(nil, "a", &scaleInfo{sharding: &sharding{}}),
		newShards(nil, "b", &scaleInfo{sharding: &sharding{}}); a.indexes != b.indexes {
		t.Error("two scales have a budget of their own each")
	}
	x.add(key(5), nil)
	if x.kept.Len() != 1 || x.kept.Cost() != minishardIndex(nil).memory() {
		t.Errorf("%d indexes of %d bytes", x.kept.Len(), x.kept.Cost())
	}
}
