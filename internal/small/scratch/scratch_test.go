package scratch

import "testing"

// A buffer is used again if it fits, and free buffers are bounded: those that were given back first are unmapped.
func TestMapped(t *testing.T) {
	m := mapped{most: 4 * step}
	first := m.get(step + 1)
	if len(first) != step+1 || cap(first) != 2*step {
		t.Fatalf("%d of %d bytes, expected %d of %d", len(first), cap(first), step+1, 2*step)
	}
	first[step] = 1
	m.put(first)
	for _, c := range []struct {
		name string
		n    int
		same bool
	}{{"the same length", step + 1, true}, {"half", step, true}, {"less than half", 1, true},
		{"more", 2*step + 1, false}} {
		b := m.get(c.n)
		if same := &b[0] == &first[0]; same != c.same {
			t.Errorf("%s: the buffer is used again: %v, expected %v", c.name, same, c.same)
		}
		m.put(b)
	}
	if m.bytes != 3*step || len(m.free) != 1 {
		t.Errorf("%d bytes in %d free buffers, expected the last one of %d", m.bytes, len(m.free), 3*step)
	}
	m.put(m.get(5 * step))
	if m.bytes > m.most {
		t.Errorf("%d bytes are free, expected at most %d", m.bytes, m.most)
	}
}

// Small buffers and large ones have the length that was asked for, and are lent to one user at a time.
func TestGet(t *testing.T) {
	for _, n := range []int{0, 1, maxPooled, maxPooled + 1, maxFree + 1} {
		a, b := Get(n), Get(n)
		if len(*a) != n || len(*b) != n {
			t.Errorf("%d and %d bytes, expected %d", len(*a), len(*b), n)
		}
		if n > 0 && &(*a)[0] == &(*b)[0] {
			t.Errorf("%d bytes are lent twice", n)
		}
		Put(a)
		Put(b)
	}
}
