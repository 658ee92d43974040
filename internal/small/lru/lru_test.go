package lru

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// model is a Cache as a slice, the least recently used entry first.
type model struct {
	budget  int64
	entries []modelEntry
}

type modelEntry struct {
	key, value int
	cost       int64
}

func (m *model) cost() (sum int64) {
	for _, e := range m.entries {
		sum += e.cost
	}
	return sum
}

func (m *model) remove(key int) (modelEntry, bool) {
	i := slices.IndexFunc(m.entries, func(e modelEntry) bool { return e.key == key })
	if i < 0 {
		return modelEntry{}, false
	}
	e := m.entries[i]
	m.entries = slices.Delete(m.entries, i, i+1)
	return e, true
}

func (m *model) get(key int) (int, bool) {
	e, ok := m.remove(key)
	if ok {
		m.entries = append(m.entries, e)
	}
	return e.value, ok
}

func (m *model) put(e modelEntry) (evicted []int) {
	m.remove(e.key)
	m.entries = append(m.entries, e)
	return m.resize(m.budget)
}

func (m *model) resize(budget int64) (evicted []int) {
	m.budget = budget
	for m.cost() > m.budget && len(m.entries) > 1 {
		evicted = append(evicted, m.entries[0].value)
		m.entries = m.entries[1:]
	}
	return evicted
}

// TestModel makes the same random calls to a Cache and to a model, and compares what they return.
func TestModel(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		budget := int64(random.IntN(30))
		c, m := New[int, int](budget), &model{budget: budget}
		for call := range 2000 {
			key, value, cost := random.IntN(12), random.Int(), int64(random.IntN(10))
			switch random.IntN(9) {
			case 0:
				got, ok := c.Remove(key)
				if want, has := m.remove(key); got != want.value || ok != has {
					t.Fatalf("seed %d, call %d: Remove: got %d, %v, expected %d, %v", seed, call, got, ok, want.value,
						has)
				}
			case 1:
				var want modelEntry
				has := len(m.entries) > 0
				if has {
					want, _ = m.remove(m.entries[0].key)
				}
				if got, ok := c.RemoveOldest(); got != want.value || ok != has {
					t.Fatalf("seed %d, call %d: RemoveOldest: got %d, %v, expected %d, %v", seed, call, got, ok,
						want.value, has)
				}
			case 2:
				budget := int64(random.IntN(30))
				if got, want := c.Resize(budget), m.resize(budget); !slices.Equal(got, want) {
					t.Fatalf("seed %d, call %d: Resize: evicted %v, expected %v", seed, call, got, want)
				}
			case 3, 4, 5:
				got, ok := c.Get(key)
				if want, has := m.get(key); got != want || ok != has {
					t.Fatalf("seed %d, call %d: Get: got %d, %v, expected %d, %v", seed, call, got, ok, want, has)
				}
			default:
				if got, want := c.Put(key, value, cost), m.put(modelEntry{key, value, cost}); !slices.Equal(got, want) {
					t.Fatalf("seed %d, call %d: Put: evicted %v, expected %v", seed, call, got, want)
				}
			}
			if c.Len() != len(m.entries) || c.Cost() != m.cost() {
				t.Fatalf("seed %d, call %d: %d entries that cost %d, expected %d that cost %d",
					seed, call, c.Len(), c.Cost(), len(m.entries), m.cost())
			}
		}
	}
}

// TestPutEvicts: the budget is exact, and the newest entry stays even if it alone is above the budget.
func TestPutEvicts(t *testing.T) {
	c := New[string, string](10)
	for _, step := range []struct {
		key     string
		cost    int64
		evicted []string
		sum     int64
	}{
		{"a", 4, nil, 4},
		{"b", 6, nil, 10},
		{"c", 0, nil, 10},
		{"a", 4, nil, 10}, // now b is the least recently used one
		{"d", 1, []string{"b"}, 5},
		{"e", 11, []string{"c", "a", "d"}, 11},
		{"e", 12, nil, 12},
		{"f", 10, []string{"e"}, 10},
	} {
		if got := c.Put(step.key, step.key, step.cost); !slices.Equal(got, step.evicted) || c.Cost() != step.sum {
			t.Errorf("%s: evicted %v, sum %d, expected %v, %d", step.key, got, c.Cost(), step.evicted, step.sum)
		}
	}
}
