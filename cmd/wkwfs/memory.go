package main

import (
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// memory is how much memory a process can have.
type memory struct {
	bytes   int64
	limited bool // by a control group: that of a container or a service, or one above it
}

// thisMemory returns the memory that this process can have. What cannot be found is no limit.
func thisMemory() memory {
	m := memory{bytes: math.MaxInt64}
	if n, err := machineMemory(); err == nil {
		m.bytes = n
	}
	if limit, err := memlimit.FromCgroup(); err == nil && limit < uint64(m.bytes) {
		m = memory{int64(limit), true}
	}
	return m
}

// cacheSizeFlag is the name of the flag of all commands that decode voxels.
const cacheSizeFlag = "cache-size"

// fitCache returns an error if the user has set a larger cache than the memory. A default that is larger becomes half
// of the memory.
func fitCache(flags *pflag.FlagSet, size *settings.Size, m memory) error {
	flag := flags.Lookup(cacheSizeFlag)
	if int64(*size) <= m.bytes {
		return nil
	}
	half := m.bytes / 2
	if !flag.Changed {
		*size = settings.Size(half)
		return nil
	}
	advice, of := "leave memory for other programs: "+bytesText(half)+" is half of it", "this machine"
	if m.limited {
		advice, of = "set it to "+bytesText(half)+", or raise the limit: MemoryMax= of systemd, --memory of docker",
			"this service or container"
	}
	return hint.Usagef(advice, "%s: %s is more than the memory of %s, %s", settings.Origin(flag),
		exactText(int64(*size)), of, exactText(m.bytes))
}

// exactText formats a size with four digits: two would round sizes up to the memory that they are above.
func exactText(n int64) string {
	return humanize.IBytesN(uint64(n), 4)
}
