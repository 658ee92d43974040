package settings

import (
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// The types below are values of flags. They implement pflag.Value.

// Size is a number of bytes, written like 512MiB.
type Size int64

// maxSize is the largest Size. The sum of a Size and some overhead cannot overflow.
const maxSize = math.MaxInt64 / 2

// leastBare is the least number that is a size without a unit, in bytes. Smaller ones lack a unit, as in --cache-size
// 4.
const leastBare = 1 << 10

// Set parses a size.
func (s *Size) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	switch {
	case err != nil || strings.Contains(text, ","):
		return hint.Usagef("write it like 512MiB, 1GiB or 4GB", "%q is not a size", text)
	case n > 0 && n < leastBare && strings.Trim(text, "0123456789") == "":
		return hint.Usagef("write it like "+text+"GiB or "+text+"MiB; "+text+"B if you mean bytes", "%q has no unit",
			text)
	case n > maxSize:
		return hint.Usagef("", "%q is more than this machine can address", text)
	}
	*s = Size(n)
	return nil
}

// String returns the size in binary units, or in bytes if units would round it.
func (s *Size) String() string {
	text := strings.ReplaceAll(humanize.IBytes(uint64(*s)), " ", "")
	if n, err := humanize.ParseBytes(text); err == nil && n == uint64(*s) {
		return text
	}
	return fmt.Sprintf("%dB", *s)
}

// Type returns what help texts call the value.
func (s *Size) Type() string { return "SIZE" }

// Free is how much of a disk stays free: a number of bytes, or a percentage.
type Free struct {
	Bytes   int64 // 0 if Percent counts
	Percent int
}

// Set parses a size, or a percentage such as 5%.
func (f *Free) Set(text string) error {
	if number, ok := strings.CutSuffix(text, "%"); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n > 99 {
			return hint.Usagef("", "%q is not a percentage from 0%% to 99%%", text)
		}
		*f = Free{Percent: n}
		return nil
	}
	var s Size
	if err := s.Set(text); err != nil {
		return err
	}
	*f = Free{Bytes: int64(s)}
	return nil
}

// String returns the size, or the percentage.
func (f *Free) String() string {
	if f.Bytes == 0 {
		return strconv.Itoa(f.Percent) + "%"
	}
	return (*Size)(&f.Bytes).String()
}

// Type returns what help texts call the value.
func (f *Free) Type() string { return "SIZE" }

// Depth is a number of requests in flight.
type Depth int

const maxDepth = 1024

// Set parses a number from 1 to 1024.
func (d *Depth) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxDepth {
		return hint.Usagef("", "%q is not a number from 1 to %d", text, maxDepth)
	}
	*d = Depth(n)
	return nil
}

// String returns the number.
func (d *Depth) String() string { return strconv.Itoa(int(*d)) }

// Type returns what help texts call the value.
func (d *Depth) Type() string { return "N" }

// Timeout is how long something may take.
type Timeout time.Duration

const (
	minTimeout = time.Second
	maxTimeout = time.Hour
)

// Set parses a duration from a second to an hour.
func (t *Timeout) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < minTimeout || d > maxTimeout {
		return hint.Usagef("write it like 30s or 5m", "%q is not a time from 1s to 1h", text)
	}
	*t = Timeout(d)
	return nil
}

// String returns the duration, such as 1m30s.
func (t *Timeout) String() string { return time.Duration(*t).String() }

// Type returns what help texts call the value.
func (t *Timeout) Type() string { return "TIME" }

// Owner is the number of a user or a group, or none.
type Owner struct{ ID *uint32 }

// Set parses a number.
func (o *Owner) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == math.MaxUint32 { // which the kernel reads as "none"
		return hint.Usagef("id -u NAME and id -g NAME print it", "%q is not the number of a user or group", text)
	}
	id := uint32(n)
	o.ID = &id
	return nil
}

// String returns the number, or "".
func (o *Owner) String() string {
	if o.ID == nil {
		return ""
	}
	return strconv.FormatUint(uint64(*o.ID), 10)
}

// Type returns what help texts call the value.
func (o *Owner) Type() string { return "ID" }

// Mask is a set of permissions to remove, as in umask(2), or none.
type Mask struct{ Bits *fs.FileMode }

// Set parses octal digits.
func (m *Mask) Set(text string) error {
	n, err := strconv.ParseUint(text, 8, 32)
	if err != nil || n > uint64(fs.ModePerm) {
		return hint.Usagef("write it like 022 or 077", "%q is not a mask of permissions", text)
	}
	bits := fs.FileMode(n)
	m.Bits = &bits
	return nil
}

// String returns the mask with a leading zero, or "".
func (m *Mask) String() string {
	if m.Bits == nil {
		return ""
	}
	return "0" + strconv.FormatUint(uint64(*m.Bits), 8)
}

// Type returns what help texts call the value.
func (m *Mask) Type() string { return "MASK" }

// Unit is a unit of length, or none.
type Unit string

// Units are the units that Unit.Set takes.
var Units = []string{"nm", "um", "mm"}

// Set parses a unit. It also takes µm.
func (u *Unit) Set(text string) error {
	unit := text
	if text == "\u00b5m" || text == "\u03bcm" { // the sign for micro, and the Greek letter
		unit = "um"
	}
	if !slices.Contains(Units, unit) {
		return hint.Usagef("write nm, um or mm", "%q is not a unit of length", text)
	}
	*u = Unit(unit)
	return nil
}

// String returns the unit, or "".
func (u *Unit) String() string { return string(*u) }

// Type returns what help texts call the value.
func (u *Unit) Type() string { return "UNIT" }
