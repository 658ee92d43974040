package web

import (
	"context"
	"errors"
	"testing"
)

func TestPictureCache(t *testing.T) {
	c := newPictureCache()
	drawn := 0
	draw := func(size int) func() ([]byte, error) {
		return func() ([]byte, error) { drawn++; return make([]byte, size), nil }
	}
	for _, test := range []struct {
		key  string
		size int
		want int // pictures drawn so far
	}{{"a", 20 << 20, 1}, {"a", 20 << 20, 1}, {"b", 10 << 20, 2}, {"a", 20 << 20, 2}, {"c", 5 << 20, 3},
		{"a", 20 << 20, 3}, {"b", 10 << 20, 4}} {
		if _, err := c.get(t.Context(), test.key, draw(test.size)); err != nil || drawn != test.want {
			t.Errorf("%s: %d pictures drawn, error %v, want %d", test.key, drawn, err, test.want)
		}
		if n := c.pictures.Cost(); n > maxCachedBytes {
			t.Errorf("%d bytes are cached", n)
		}
	}
	broken := errors.New("broken")
	for range 2 { // errors are not cached
		if _, err := c.get(t.Context(), "d", func() ([]byte, error) { drawn++; return nil, broken }); err != broken {
			t.Errorf("error %v", err)
		}
	}
	if drawn != 6 {
		t.Errorf("%d pictures drawn, want 6", drawn)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	c.slots <- struct{}{}
	c.slots <- struct{}{}
	if _, err := c.get(gone, "e", draw(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that was canceled waits for a picture: %v", err)
	}
}
