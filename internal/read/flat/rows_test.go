package flat

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestCopyRows compares copies of all shapes with a loop over the bytes.
func TestCopyRows(t *testing.T) {
	src := make([]byte, 40*600)
	for i := range src {
		src[i] = byte(rand.Uint32())
	}
	for _, n := range []int{0, 1, 16, 31, 32, 33, 63, 64, 65, 96, 128, 180, 511, 512, 544} {
		for _, rows := range []int{0, 1, 2, 31, 33} {
			for _, strides := range [][2]int{{n, n}, {n + 1, n}, {600, 550}} {
				for _, ahead := range []int{0, 1024, -1 << 40, 1 << 50} { // there need not be memory
					got, want := make([]byte, len(src)), make([]byte, len(src))
					CopyRows(got, src, n, rows, strides[0], strides[1], ahead)
					for i := range rows {
						for j := range n {
							want[i*strides[0]+j] = src[i*strides[1]+j]
						}
					}
					if !bytes.Equal(got, want) {
						t.Fatalf("%d rows of %d bytes with strides %v, prefetching %d bytes ahead: wrong bytes", rows,
							n, strides, ahead)
					}
				}
			}
		}
	}
}

// TestCopyRowsChecksBounds checks that rows may end where the memory ends, and that rows beyond it cause a panic, not
// a fault.
func TestCopyRowsChecksBounds(t *testing.T) {
	for _, n := range []int{31, 32} {
		CopyRows(make([]byte, 100+n), make([]byte, 50+n), n, 2, 100, 50, 0)
		for _, short := range [][2]int{{99 + n, 50 + n}, {100 + n, 49 + n}} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("rows of %d bytes were copied between %v bytes of memory", n, short)
					}
				}()
				CopyRows(make([]byte, short[0], 1000), make([]byte, short[1], 1000), n, 2, 100, 50, 0)
			}()
		}
	}
}

// TestGatherRows compares rows of several blocks with a loop over the bytes. The second to last block is short, so it
// and the last one are left out, or no block is.
func TestGatherRows(t *testing.T) {
	for _, n := range []int{32, 64, 96, 512} {
		for _, rows := range []int{1, 2, 3, 32} {
			for _, count := range []int{1, 2, 7} {
				for _, short := range []bool{false, true} {
					src, blocks := 3*n, make([][]byte, count)
					for i := range blocks {
						blocks[i] = make([]byte, src+rows*n)
						for j := range blocks[i] {
							blocks[i][j] = byte(rand.Uint32())
						}
					}
					expected := count
					if short {
						expected = max(count-2, 0)
						blocks[expected] = blocks[expected][:len(blocks[expected])-1]
					}
					stride := count*n + 5
					got, want := make([]byte, rows*stride-5), make([]byte, rows*stride-5)
					done := gatherRows32(got, blocks, src, n, rows, stride)
					if runtime.GOARCH != "amd64" {
						expected = 0
					}
					for i := range expected {
						for row := range rows {
							copy(want[row*stride+i*n:][:n], blocks[i][src+row*n:])
						}
					}
					if done != expected || !bytes.Equal(got, want) {
						t.Fatalf("%d rows of %d bytes, %d blocks, short %v: %d blocks, or wrong bytes", rows, n, count,
							short, done)
					}
				}
			}
		}
	}
}
