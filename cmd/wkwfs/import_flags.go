package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/volume"
)

// voxelsFlag is a flag of the form X,Y,Z, in voxels. Its value is nil if it is not given.
type voxelsFlag struct{ to **volume.Vec }

func (f voxelsFlag) Set(text string) error {
	var v volume.Vec
	err := eachAxis(text, "whole number from 0 on", "1024,1024,256", func(axis int, word string) bool {
		var ok bool
		v[axis], ok = volume.ParseIndex(word)
		return ok
	})
	if err == nil {
		*f.to = &v
	}
	return err
}

func (f voxelsFlag) String() string {
	if f.to == nil || *f.to == nil {
		return ""
	}
	return (*f.to).String()
}

func (f voxelsFlag) Type() string { return "X,Y,Z" }

// lengthsFlag is a flag of the form X,Y,Z, in nm. Its value is zero if it is not given.
type lengthsFlag struct{ to *[3]float64 }

func (f lengthsFlag) Set(text string) error {
	var v [3]float64
	err := eachAxis(text, "length in nm, above 0", "11.24,11.24,25", func(axis int, word string) bool {
		var err error
		v[axis], err = strconv.ParseFloat(word, 64)
		return err == nil && v[axis] > 0 && !math.IsInf(v[axis], 0)
	})
	if err == nil {
		*f.to = v
	}
	return err
}

func (f lengthsFlag) String() string {
	if f.to == nil || *f.to == ([3]float64{}) {
		return ""
	}
	return fmt.Sprintf("%v,%v,%v", f.to[0], f.to[1], f.to[2])
}

func (f lengthsFlag) Type() string { return "X,Y,Z" }

// eachAxis calls set with each of the three words of a text, which have commas between them, or x, because words of -o
// have no commas. set reports whether it is valid. kind and example say what is expected.
func eachAxis(text, kind, example string, set func(axis int, word string) bool) error {
	words := strings.Split(strings.ReplaceAll(text, "x", ","), ",")
	if len(words) != 3 {
		return hint.Usagef("write it like "+example, "%q: expected three numbers, found %d", text, len(words))
	}
	for axis, word := range words {
		if !set(axis, strings.TrimSpace(word)) {
			return hint.Usagef("write it like "+example, "%q on axis %c: expected a %s", word, "xyz"[axis], kind)
		}
	}
	return nil
}
