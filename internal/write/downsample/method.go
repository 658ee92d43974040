package downsample

import (
	"fmt"
	"slices"
	"strings"
)

// Method says how the values of a cell become one value. The zero Method is not valid.
type Method uint8

const (
	// Mean is the arithmetic mean. Means of integers are rounded to the nearest integer, and halves up: −1.5 becomes
	// −1. Means of floats are computed in float64. They do not overflow, but means of float64 below 1e-300 may lose
	// digits. A mean with NaN is NaN.
	Mean Method = iota + 1

	// Mode is the most frequent value, and the smallest of equally frequent ones. Among floats, all NaNs are one value,
	// which is larger than all others, and −0 counts as 0.
	Mode

	// Nearest is the first voxel of a cell: the one with the smallest coordinates.
	Nearest

	// Max is the largest value. Among floats, NaN is smaller than all others, so the result is NaN only if all are. −0
	// counts as 0.
	Max
)

var names = [...]string{Mean: "mean", Mode: "mode", Nearest: "nearest", Max: "max"}

// Methods returns every valid Method, in the order of the constants.
func Methods() []Method { return []Method{Mean, Mode, Nearest, Max} }

// ParseMethod returns the Method with a name: "mean", "mode", "nearest" or "max".
func ParseMethod(name string) (Method, error) {
	if i := slices.Index(names[Mean:], name); i >= 0 {
		return Mean + Method(i), nil
	}
	return 0, fmt.Errorf("unknown downsampling method %q, expected one of %s", name, strings.Join(names[Mean:], ", "))
}

// Valid reports whether m is one of the constants.
func (m Method) Valid() bool { return m >= Mean && m <= Max }

// String returns the name of the method, such as "mean".
func (m Method) String() string {
	if !m.Valid() {
		return fmt.Sprintf("Method(%d)", uint8(m))
	}
	return names[m]
}
