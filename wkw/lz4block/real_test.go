package lz4block_test

import (
	"testing"
	"time"

	"github.com/pierrec/lz4/v4"
	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
	"github.com/wkwfs/wkwfs/wkw/lz4block"
)

// blocks are decoded blocks of one layer, all of the same length.
type blocks struct {
	name string
	all  [][]byte
}

// realBlocks returns blocks of the sample, and of a microscope where this machine has them.
func realBlocks(t testing.TB) []blocks {
	cut := sample.Cut{Box: volume.Box{Min: volume.Cube(512), Max: volume.Vec{640, 640, 576}}, Block: 32, Mag: 1}
	image, labels := sample.Usual.EM(cut), sample.Usual.Segmentation(cut)
	found := []blocks{
		{"the sample's image", readBlocks(t, image, volume.Box{Max: image.Grid().Blocks()})},
		{"the sample's labels", readBlocks(t, labels, volume.Box{Max: labels.Grid().Blocks()})},
	}
	// the others are cut by the border of the data
	whole := volume.Box{Min: volume.Vec{10, 2, 6}, Max: volume.Vec{13, 6, 10}}
	for _, c := range []struct{ layer, name string }{{"color", "a microscope's image"},
		{"segmentation", "a microscope's labels"}} {
		if path, ok := refdata.Path("l4_blocks", c.layer, "2-2-1", "z3", "y4"); ok {
			found = append(found, blocks{c.name, readBlocks(t, openCube(t, path, "x2.wkw"), whole)})
		} else {
			t.Logf("without %s: %s does not exist", c.name, path)
		}
	}
	return found
}

func openCube(t testing.TB, dir, name string) *wkw.File {
	t.Helper()
	fsys, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := wkw.OpenFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.Close()
		fsys.Close()
	})
	return f
}

// readBlocks returns the blocks of a source in a box, whose unit is blocks.
func readBlocks(t testing.TB, src volume.Source, box volume.Box) [][]byte {
	t.Helper()
	var all [][]byte
	for b := range box.All() {
		block, err := volume.ReadBlock(t.Context(), src, b)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, block)
	}
	return all
}

// contenders returns our encoder and that of pierrec/lz4, both with memory that they use again. They return the length
// of the encoded block.
func contenders(n int) (ours, theirs func(block []byte) (int, error)) {
	dst := make([]byte, lz4block.Bound(n))
	encoder, compressor := new(lz4block.Encoder), new(lz4.Compressor)
	return func(block []byte) (int, error) { return encoder.Encode(dst, block) },
		func(block []byte) (int, error) { return compressor.CompressBlock(block, dst) }
}

// TestEncodeReal compares the lengths of blocks with those of pierrec/lz4.
func TestEncodeReal(t *testing.T) {
	for _, c := range realBlocks(t) {
		t.Run(c.name, func(t *testing.T) {
			ours, theirs := contenders(len(c.all[0]))
			got, want, decoded := 0, 0, 0
			for _, block := range c.all {
				n, err := ours(block)
				m, err1 := theirs(block)
				if err != nil || err1 != nil {
					t.Fatal(err, err1)
				}
				got, want, decoded = got+n, want+m, decoded+len(block)
			}
			t.Logf("%d blocks, %.3f ×, %.3f × by pierrec/lz4", len(c.all), float64(decoded)/float64(got),
				float64(decoded)/float64(want))
			if float64(got) > 1.01*float64(want) {
				t.Errorf("%d bytes, expected at most 1.01 × the %d of pierrec/lz4", got, want)
			}
		})
	}
}

// BenchmarkEncode encodes blocks beside pierrec/lz4. It reports the compression, and the speed by CPU time, which other
// programs on the machine disturb less.
func BenchmarkEncode(b *testing.B) {
	for _, c := range realBlocks(b) {
		n := len(c.all[0])
		ours, theirs := contenders(n)
		run := func(name string, encode func([]byte) (int, error)) {
			b.Run(c.name+", "+name, func(b *testing.B) { benchmark(b, c.all, encode) })
		}
		run("pierrec with new memory", func(block []byte) (int, error) {
			return lz4.CompressBlock(block, make([]byte, lz4block.Bound(n)), nil)
		})
		run("pierrec", theirs)
		run("ours", ours)
	}
}

func benchmark(b *testing.B, all [][]byte, encode func([]byte) (int, error)) {
	decoded, encoded := len(all)*len(all[0]), 0
	b.SetBytes(int64(decoded))
	start := cpuTime(b)
	for b.Loop() {
		encoded = 0
		for _, block := range all {
			n, err := encode(block)
			if err != nil {
				b.Fatal(err)
			}
			encoded += n
		}
	}
	spent := cpuTime(b) - start
	b.ReportMetric(float64(decoded)*float64(b.N)/spent.Seconds()/1e6, "MB/CPU-s")
	b.ReportMetric(float64(decoded)/float64(encoded), "ratio")
}

// cpuTime returns the CPU time of this process.
func cpuTime(b *testing.B) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now); err != nil {
		b.Fatal(err)
	}
	return time.Duration(now.Nano())
}
