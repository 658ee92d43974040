package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/files/hdfsource"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/write/importer"
	"github.com/wkwfs/wkwfs/volume"
)

// missingFlags has the flags that an import may ask for, in the order of the command that it prints, with their values.
var missingFlags = []struct {
	field importer.Field
	value string
}{
	{importer.FieldLayer, "NAME"},
	{importer.FieldShape, "X,Y,Z"},
	{importer.FieldType, "TYPE"},
	{importer.FieldVoxelSize, "X,Y,Z"},
	{importer.FieldOffset, "X,Y,Z"},
	{importer.FieldAxes, "AXES"},
	{importer.FieldCategory, "CATEGORY"},
}

// ask returns an error that asks for all that is missing, with the command to type.
func (s *importSettings) ask(missing *importer.MissingError) error {
	var names, reasons []string
	command := s.command()
	for _, flag := range missingFlags {
		for _, need := range missing.Needs {
			if need.Field != flag.field {
				continue
			}
			names = append(names, "--"+string(flag.field))
			if need.Err != nil {
				reasons = append(reasons, strings.TrimPrefix(need.Err.Error(), s.input+": "))
			}
			command += fmt.Sprintf(" --%s %s", flag.field, cmp.Or(need.Value, flag.value))
		}
	}
	are := "is"
	if len(names) > 1 {
		are = "are"
	}
	text := fmt.Sprintf("%s: %s %s missing", s.input, strings.Join(names, ", "), are)
	if len(reasons) > 0 {
		text += ": " + strings.Join(reasons, "; ")
	}
	return &hint.Error{Err: missingText{text, missing}, Hint: command, Usage: s.options.Layer == ""}
}

// missingText is the error of what is missing, in the words of the command line.
type missingText struct {
	text    string
	missing *importer.MissingError
}

func (e missingText) Error() string { return e.text }
func (e missingText) Unwrap() error { return e.missing }

// command returns the command line as it was given.
func (s *importSettings) command() string {
	words := []string{"wkwfs import", hint.Quote(s.input), hint.Quote(s.dataset)}
	s.flags.SortFlags = false // but in the order of the command line
	s.flags.Visit(func(f *pflag.Flag) {
		switch value := f.Value.String(); {
		case f.Value.Type() != "bool":
			words = append(words, "--"+f.Name, hint.Quote(value))
		case value == "true":
			words = append(words, "--"+f.Name)
		}
	})
	return strings.Join(words, " ")
}

// missingShape returns the error of a file without a header whose shape or type is not given, with all else that is
// missing. why is the error of its header; it may be nil.
func (s *importSettings) missingShape(why error) error {
	needs, err := importer.Missing(s.dataset, s.options, s.update)
	if err != nil {
		return err
	}
	info, err := os.Stat(s.input)
	if err != nil {
		return err
	}
	likely := s.likely(info.Size())
	if s.shape == nil {
		need := importer.Need{Field: importer.FieldShape, Err: cmp.Or(why, likely)}
		if !s.options.Named.Empty() {
			need.Value = s.options.Named.Size().String()
		}
		needs = append(needs, need)
	}
	if s.values.dtype == "" {
		needs = append(needs, importer.Need{Field: importer.FieldType,
			Err: cmp.Or(likely, fmt.Errorf("TYPE is %s", orList(typeNames(volume.Types()))))})
	}
	return s.ask(&importer.MissingError{Needs: needs})
}

// likely returns an error that names cubes and types that a file of n bytes may have, as far as they are not given. It
// returns nil if there are none.
func (s *importSettings) likely(n int64) error {
	var types []volume.Type
	if s.values.dtype != "" {
		types = []volume.Type{s.raw.Type}
	}
	var all []string
	for _, g := range arrayfile.GuessRaw(n, s.shape, types, s.raw.Channels) {
		all = append(all, fmt.Sprintf("%v voxels of %s", g.Size, orList(typeNames(g.Types))))
	}
	if all == nil {
		return nil
	}
	return fmt.Errorf("its %d bytes could be %s", n, strings.Join(all, ", or "))
}

func typeNames(types []volume.Type) (names []string) {
	for _, t := range types {
		names = append(names, t.String())
	}
	return names
}

// orList joins names with commas, and the last one with or.
func orList(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// open opens the input: a file without a header if there is a shape or a type.
func (s *importSettings) open() (*arrayfile.Array, error) {
	if s.shape != nil && s.values.dtype != "" {
		s.raw.Axes = s.axes
		return arrayfile.OpenRaw(s.input, s.raw)
	}
	if s.shape != nil || s.values.dtype != "" {
		return nil, s.missingShape(nil)
	}
	s.options.Axes = s.axes
	in, err := openHDF5(s.input)
	if errors.Is(err, hdfsource.ErrNotRecognised) {
		in, err = arrayfile.Open(s.input)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && !exists(s.input):
		return nil, absentError("INPUT", s.input, err)
	case errors.Is(err, arrayfile.ErrNotRecognised):
		return nil, s.missingShape(arrayfile.ErrNotRecognised)
	case err == nil && s.axes != "" && in.Layout.Axes == "":
		in.Close()
		return nil, hint.Usagef("", "--axes is not for %s: its header says which axes are x, y and z", s.input)
	case err == nil && (s.raw.Channels != 1 || s.raw.BigEndian):
		in.Close()
		return nil, hint.Usagef("", "--channels and --big-endian are for a file without a header; %s has one", s.input)
	}
	return in, err
}
