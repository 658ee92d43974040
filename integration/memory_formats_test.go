package integration

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMemoryOfFormats: the limit of memory holds for chunks of 16 MiB of every format and codec, honest and hostile, in
// every way in, with 16 readers. All voxels of honest ones are right.
func TestMemoryOfFormats(t *testing.T) {
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector has memory of its own")
	}
	n := 0
	for _, format := range memoryFormats {
		base := memoryCase{Format: format, Type: "uint8", Plane: [2]int{512, 512}, Depth: 64, Planes: 2*64 + 1,
			Content: 7, Cache: 64, Readers: 16}
		if format == "wkw" {
			base.Plane, base.Depth, base.Planes = [2]int{256, 256}, 256, 2*256
		}
		for i, name := range memoryCodecs[base.family()] {
			for j, stored := range []string{"right", "long", "claims"} {
				c := base
				c.Codecs, c.Stored, c.Way = []string{name}, stored, []string{"mount", "serve", "nfs", "cp"}[(i+j+n)%4]
				if name == "compressed_segmentation" {
					c.Type, c.Depth = "uint32", 16
				}
				if name == "jxl" || name == "compresso" || name == "jpeg" || name == "png" {
					c.Plane, c.Depth, c.Planes = [2]int{128, 128}, 64, 2*64
				}
				if name == "jxl" { // a picture of a megapixel may take 280 MiB while it is decoded
					c.Cache = 1024
				}
				if n++; n%amount(3, 1) == 0 || j == 0 {
					t.Run(strings.Join([]string{format, name, stored, c.Way}, " "),
						func(t *testing.T) { runMemory(t, c) })
				}
			}
		}
	}
}

// TestMemoryOfLargeChunks: volumes of chunks that are much larger than the cache, or that go far past the end of the
// volume. Those that cannot be read within the limit are refused, and all others are right.
func TestMemoryOfLargeChunks(t *testing.T) {
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector has memory of its own")
	}
	base := memoryCase{Type: "uint8", Plane: [2]int{512, 512}, Depth: 512, Planes: 512, Stored: "right", Content: 7,
		Cache: 64, Readers: 16, Way: "mount"}
	for _, test := range []struct {
		name   string
		change func(c *memoryCase)
		shown  bool
	}{
		{"raw Zarr", func(c *memoryCase) { c.Format, c.Codecs = "zarr", []string{""} }, true},
		{"Blosc", func(c *memoryCase) { c.Format, c.Codecs = "zarr", []string{"blosc"} }, true},
		{"raw shards", func(c *memoryCase) { c.Format, c.Codecs = "zarr-shards", []string{""} }, true},
		{"gzip in Zarr", func(c *memoryCase) { c.Format, c.Codecs = "zarr", []string{"gzip"} }, false},
		{"zstd in Zarr", func(c *memoryCase) { c.Format, c.Codecs = "zarr", []string{"zstd"} }, false},
		{"gzip in N5", func(c *memoryCase) { c.Format, c.Codecs = "n5", []string{"gzip"} }, false},
		{"raw Precomputed", func(c *memoryCase) { c.Format, c.Codecs = "precomputed", []string{"raw"} }, false},
		{"many times gzip", func(c *memoryCase) {
			c.Format, c.Codecs, c.Depth, c.Planes = "zarr", slices.Repeat([]string{"gzip"}, memoryMostCodecs), 16, 16
		}, false},
		{"gzip, past the end", func(c *memoryCase) { c.Format, c.Codecs, c.Planes = "zarr", []string{"gzip"}, 15 },
			true},
		{"gzip in N5, past the end", func(c *memoryCase) { c.Format, c.Codecs, c.Planes = "n5", []string{"gzip"}, 15 },
			true},
		{"zlib, big-endian, past the end", func(c *memoryCase) {
			c.Format, c.Codecs, c.Planes, c.Depth, c.Type, c.Big = "zarr", []string{"numcodecs.zlib"}, 15, 256,
				"uint32", true
		}, true},
		{"Precomputed, past the end", func(c *memoryCase) {
			c.Format, c.Codecs, c.Type, c.Plane, c.Depth, c.Planes = "precomputed", []string{"raw"}, "uint32",
				[2]int{16, 16}, 1<<20-1<<12, 15
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := base
			test.change(&c)
			runMemory(t, c)
			source := tempDir(t)
			c.write(t, source)
			dir := mount(t, source, "--cache-size", fmt.Sprint(c.Cache<<20), "--log-file", os.DevNull)
			if c.Format == "precomputed" {
				dir += "/1"
			}
			if _, err := os.Stat(dir + "/volume.raw"); (err == nil) != test.shown {
				t.Errorf("the volume is shown: %v, expected %v", err == nil, test.shown)
			}
		})
	}
}

// TestMemoryOfCommands: check and a preview decode chunks of 128 MiB within their limits.
func TestMemoryOfCommands(t *testing.T) {
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector has memory of its own")
	}
	for _, way := range []string{"check", "info"} {
		for _, name := range []string{"gzip", "blosc"} {
			t.Run(way+" "+name, func(t *testing.T) {
				runMemory(t, memoryCase{Format: "zarr", Codecs: []string{name}, Type: "uint8", Plane: [2]int{512, 512},
					Depth: 512, Planes: 4 * 512, Stored: "right",
					Content: 7, Cache: 64, Readers: 1, Way: way})
			})
		}
	}
}
