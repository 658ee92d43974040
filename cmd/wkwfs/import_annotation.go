package main

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/paths"
	"github.com/wkwfs/wkwfs/internal/write/importer"
	"github.com/wkwfs/wkwfs/volume"
)

// merge merges an annotation into a layer, if the input of an update is one.
func (s *importSettings) merge(ctx context.Context, screen *importScreen) (isAnnotation bool, err error) {
	if !s.update || !mayBeAnnotation(s.input) {
		return false, nil
	}
	opened, err := openSource(s.input, dataset.Options{Log: plainLogger(screen)})
	if err != nil {
		return true, err
	}
	defer opened.Close()
	if opened.Volumes() == nil {
		return false, nil
	}
	for _, name := range []string{"offset", "axes", "shape", "dtype", "channels", "big-endian"} {
		if s.flags.Changed(name) {
			return true, hint.Usagef("", "--%s is not for an annotation, whose blocks have their places", name)
		}
	}
	above, err := s.volumeOf(opened)
	if err != nil {
		return true, err
	}
	debug.SetMemoryLimit(s.options.Memory + workMemory) // the collector does not wait until memory has doubled
	s.show(screen)
	screen.layer = s.options.Layer
	finish := screen.followImport()
	err = importer.Merge(ctx, above, s.input, s.dataset, s.options)
	finish()
	return true, s.explain(ctx, err)
}

// mayBeAnnotation reports whether an input can be an annotation: an archive, or a directory with an NML file.
func mayBeAnnotation(input string) bool {
	if paths.IsArchive(input) {
		return true
	}
	found, _ := filepath.Glob(filepath.Join(globQuoted(input), "*.[nN][mM][lL]")) // the pattern is valid
	return len(found) > 0
}

// globQuoted quotes what has a meaning in the patterns of package filepath.
func globQuoted(path string) string {
	var quoted []rune
	for _, r := range path {
		if slices.Contains([]rune(`*?[\\`), r) {
			quoted = append(quoted, '\\')
		}
		quoted = append(quoted, r)
	}
	return string(quoted)
}

// volumeOf returns the volume that is merged, and sets the layer if it is not given: that of the only volume.
func (s *importSettings) volumeOf(opened *dataset.Dataset) (volume.Layer, error) {
	volumes := opened.Volumes()
	names := slices.Sorted(maps.Keys(volumes))
	var found []string
	for _, name := range names {
		if len(names) == 1 || s.options.Layer != "" && volumes[name] == s.options.Layer {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		var layers []string
		for _, name := range names {
			layers = append(layers, name+" over "+cmp.Or(volumes[name], "no layer"))
		}
		return nil, hint.Usagef("the volumes are "+hint.List(layers),
			"--layer: expected one volume of the annotation over the layer %q, found %d", s.options.Layer, len(found))
	}
	s.options.Layer = cmp.Or(s.options.Layer, volumes[found[0]])
	return opened.Dataset.Layer(found[0])
}
