package main

import (
	"errors"
	"math"
	"testing"

	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// TestFitCache: a cache that is larger than the memory is an error if the user has set it. The default adapts.
func TestFitCache(t *testing.T) {
	const gib = 1 << 30
	for _, test := range []struct {
		name        string
		set         string // "": the default of 1 GiB
		memory      memory
		want        settings.Size
		err, advice string
	}{
		{"default", "", memory{bytes: 8 * gib}, gib, "", ""},
		{"default in a small container", "", memory{512 << 20, true}, 256 << 20, "", ""},
		{"all of it", "8GiB", memory{bytes: 8 * gib}, 8 * gib, "", ""},
		{"too much", "8193MiB", memory{bytes: 8 * gib}, 0,
			"--cache-size: 8.001 GiB is more than the memory of this machine, 8.000 GiB",
			"leave memory for other programs: 4.0 GiB is half of it"},
		{"too much for a container", "4GiB", memory{512 << 20, true}, 0,
			"--cache-size: 4.000 GiB is more than the memory of this service or container, 512.0 MiB",
			"set it to 256 MiB, or raise the limit: MemoryMax= of systemd, --memory of docker"},
		{"unknown memory", "2048PiB", memory{bytes: math.MaxInt64}, 2048 << 50, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			size := settings.Size(defaultCacheSize)
			flags.Var(&size, cacheSizeFlag, "")
			if test.set != "" {
				if err := flags.Set(cacheSizeFlag, test.set); err != nil {
					t.Fatal(err)
				}
			}
			err := fitCache(flags, &size, test.memory)
			var f *hint.Error
			switch {
			case test.err == "" && (err != nil || size != test.want):
				t.Errorf("got %v, %v, want %v", size, err, test.want)
			case test.err != "" && (!errors.As(err, &f) || f.Error() != test.err || f.Hint != test.advice || !f.Usage):
				t.Errorf("got %v, want %q, hint %q", err, test.err, test.advice)
			}
		})
	}
}

func TestThisMemory(t *testing.T) {
	if m := thisMemory(); m.bytes < 64<<20 || m.bytes > 1<<46 {
		t.Errorf("got %+v", m)
	}
}
