package importer

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/volume"
)

// Choice is the category of a layer, and the reason for it.
type Choice struct {
	Category string // Color or Segmentation; empty if in doubt
	Why      string // such as "the layer is named labels"
}

// setCategory sets the category, unless it is given.
func (l *layer) setCategory(ctx context.Context) error {
	g := l.in.Grid
	_, image := onlyImage(g)
	switch {
	case l.Category == Segmentation && image:
		return fmt.Errorf("a segmentation of %d × %v: expected one integer per voxel", g.Channels, g.Type)
	case l.Category == Segmentation, l.Category == Color:
		return nil
	case l.Category != "":
		return fmt.Errorf("category %q: expected %s or %s", l.Category, Color, Segmentation)
	}
	c := chooseByDescription(l.Layer, l.in.Name(), l.in.Labels, g)
	if c == (Choice{}) {
		var err error
		if c, err = sampleValues(ctx, l.in); err != nil {
			return err
		}
	}
	if c.Category == "" {
		need := Need{Field: FieldCategory, Err: fmt.Errorf("%w: %s", ErrCategory, c.Why)}
		if image {
			need.Value = Color
		}
		return &MissingError{[]Need{need}}
	}
	l.Category, l.why = c.Category, c.Why
	return nil
}

// chooseByDescription returns the category that names, header and type of an array show. The first of them that shows
// one counts. Values that no segmentation can have are an image, and in doubt if anything else says that they are
// labels.
func chooseByDescription(layer, file string, labels arrayfile.Labels, g volume.Grid) Choice {
	choice := labelsByName(layer, file)
	if choice.Category == "" {
		choice = labelsByHeader(labels)
	}
	if why, ok := onlyImage(g); ok {
		if choice.Category == Segmentation {
			return Choice{Why: choice.Why + ", but has " + why}
		}
		return Choice{Color, why}
	}
	return choice
}

// labelsByName returns Segmentation if the layer or the file has a name of labels.
func labelsByName(layer, file string) Choice {
	switch {
	case namesLabels(layer):
		return Choice{Segmentation, "the layer is named " + layer}
	case namesLabels(filepath.Base(file)):
		return Choice{Segmentation, "the file is named " + filepath.Base(file)}
	}
	return Choice{}
}

// namesLabels reports whether a word of the name starts with seg or label, or is mask or masks. Words are separated by
// anything but letters and digits.
func namesLabels(name string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(name),
		func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if strings.HasPrefix(word, "seg") || strings.HasPrefix(word, "label") || word == "mask" || word == "masks" {
			return true
		}
	}
	return false
}

func labelsByHeader(l arrayfile.Labels) Choice {
	switch l.Content {
	case arrayfile.Segmentation:
		return Choice{Segmentation, "the file has " + l.Why}
	case arrayfile.Image:
		return Choice{Color, "the file has " + l.Why}
	}
	return Choice{}
}

// onlyImage reports whether a layer with such values cannot be a segmentation, and why.
func onlyImage(g volume.Grid) (why string, ok bool) {
	switch {
	case g.Channels > 1:
		return fmt.Sprintf("%d channels", g.Channels), true
	case !g.Type.IsInteger():
		return fmt.Sprintf("values of type %v", g.Type), true
	}
	return "", false
}

// isWide reports whether values have more bits than those of microscopes. That is a hint of ids.
func isWide(t volume.Type) bool { return t.IsInteger() && t.Size() >= 4 }

// chooseByValues returns the category that a sample of values shows. The type decides if the sample has too few
// different values.
func chooseByValues(t volume.Type, s *tally) Choice {
	c := s.choose()
	switch {
	case !isWide(t) || c.Category == Segmentation:
		return c
	case c.Category == Color:
		return Choice{Why: fmt.Sprintf("%v is a type of ids, but %s", t, c.Why)}
	}
	return Choice{Segmentation, fmt.Sprintf("values of type %v", t)}
}
