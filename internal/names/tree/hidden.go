package tree

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// Names that a mount needs for something else.
var (
	ForDataset = []string{Server, Properties}             // in a dataset: no layer can have them
	ForLayer   = []string{Precomputed, OMEZarr, OMEZarr3} // in a layer: no mag can have them
	ForRoot    = append([]string{Server}, ForLayer...)    // in a layer that is the root
)

// maxName is the length of a name that Linux allows, in bytes.
const maxName = 255

// WhyHidden returns why a mount cannot show a layer or a mag of this name. It returns "" if it can. taken are the names
// that the directory has for something else.
func WhyHidden(name string, taken []string) string {
	switch {
	case len(name) > maxName:
		return fmt.Sprintf("its name has %d bytes, expected at most %d", len(name), maxName)
	case name == "." || !fs.ValidPath(name) || strings.ContainsAny(name, "/\x00"):
		return "its name cannot be that of a directory"
	case slices.Contains(taken, name):
		return "a mount has something else of this name; rename it, or name it as SOURCE"
	}
	return ""
}

// WhyLayerHidden is WhyHidden for a layer of a dataset. Its name may be that of a point of a series, such as
// NAME/t0000.
func WhyLayerHidden(name string) string {
	first, rest, _ := strings.Cut(name, "/")
	for rest != "" {
		var point string
		if point, rest, _ = strings.Cut(rest, "/"); !IsPoint(point) {
			return WhyHidden(name, ForDataset)
		}
	}
	if strings.HasSuffix(name, "/") {
		return WhyHidden(name, ForDataset)
	}
	return WhyHidden(first, ForDataset)
}

// WhyPathHidden is WhyHidden for a layer of a dataset whose layers lie in directories. Its name is a path.
func WhyPathHidden(name string) string {
	taken := ForDataset
	for part := range strings.SplitSeq(name, "/") {
		if why := WhyHidden(part, taken); why != "" {
			return why
		}
		taken = ForLayer
	}
	return ""
}

// IsPoint reports whether a name is that of a point of a series, such as t0000.
func IsPoint(name string) bool { return pointName.MatchString(name) }

// pointName matches the directory of an index on an axis, such as a time.
var pointName = regexp.MustCompile(`^[a-z]+([0-9]+_)?[0-9]{4,}$`)
