package scratch

import (
	"bytes"
	"runtime"
	"testing"
	"time"
)

// A pattern fills what is inside with its value, and the rest with zeros, whatever was there.
func TestPattern(t *testing.T) {
	for _, value := range []string{"\x07", "ab", "\x00\x00", "\x00\x01\x02\x03"} {
		for _, inside := range [][3]int{{8, 3, 2}, {4, 3, 2}, {8, 2, 2}, {8, 3, 1}, {4, 1, 1}, {0, 0, 0}} {
			p := Pattern{Value: value, Block: [3]int{8, 3, 2}, Inside: inside}
			block := bytes.Repeat([]byte{0xDB}, 48)
			p.Fill(block)
			for i, got := range block {
				x, y, z := i%8, i/8%3, i/24
				want := byte(0)
				if x < inside[0] && y < inside[1] && z < inside[2] {
					want = value[x%len(value)]
				}
				if got != want {
					t.Fatalf("%q, inside %v: byte %d is %d, expected %d", value, inside, i, got, want)
				}
			}
		}
	}
}

// Blocks of one pattern are the same memory, blocks of other patterns are not, and the bound counts what is in use.
func TestFilled(t *testing.T) {
	f := fills{most: 3 << 20}
	pattern := func(value string, rows int) Pattern {
		return Pattern{Value: value, Block: [3]int{1 << 10, rows, 1}, Inside: [3]int{1 << 10, rows, 1}}
	}
	a, b, c := f.get(pattern("a", 1<<10)), f.get(pattern("b", 1<<10)), f.get(pattern("a", 1<<9))
	if &a[0] != &f.get(pattern("a", 1<<10))[0] {
		t.Error("one pattern has two blocks")
	}
	if a[5] != 'a' || b[5] != 'b' || c[5] != 'a' || len(c) != 1<<19 {
		t.Errorf("blocks have %q, %q, %q", a[5], b[5], c[5])
	}
	if f.get(pattern("c", 1<<10)) != nil {
		t.Error("more memory than the bound")
	}
	if f.get(pattern("c", 1<<12)) != nil || f.get(Pattern{Value: "c", Block: [3]int{1, 1, 1}}) != nil {
		t.Error("a block that is too large, or too small, is shared")
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	runtime.KeepAlive(c)
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		runtime.GC()
		if last := f.get(pattern("c", 3<<10)); last != nil { // all of the bound
			runtime.KeepAlive(last)
			break
		}
		if time.Since(start) > 10*time.Second {
			t.Fatal("blocks that nobody uses take memory")
		}
	}
}
