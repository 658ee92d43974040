package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/paths"
)

// sourcesKey is the key of the sections for single sources.
const sourcesKey = "sources"

// file is a configuration file in YAML: settings by the names of their flags, and settings for
// single sources under "sources".
//
//	cache-size: 4GiB
//	sources:
//	  /data/cortex:
//	    allow-other: true
type file struct {
	path     string
	general  []entry
	sections map[string][]section // by the path of the source, free of links
}

// section has the settings for a single source.
type section struct {
	path     *yaml.Node // as the file has it
	settings []entry
}

// entry is a setting in a configuration file.
type entry struct {
	name, value string
	line        int
}

// readFile reads a configuration file. An unknown setting is an error. Values are not checked.
func readFile(path string) (*file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return parse(path, text)
}

// parse parses the text of a configuration file. Errors name the path.
func parse(path string, text []byte) (*file, error) {
	f := &file{path: path, sections: map[string][]section{}}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF): // only comments
		return f, nil
	case err != nil:
		return nil, hint.Usagef("", "%s: %w", path, err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, hint.Usagef("", "%s: expected one document, found more", path)
	}
	root := document.Content[0]
	if isNull(root) {
		return f, nil
	}
	err := f.each(root, "settings", func(key, value *yaml.Node) error {
		if key.Value == sourcesKey {
			return f.addSections(value)
		}
		return f.add(&f.general, key, value, append([]string{sourcesKey}, All...))
	})
	return f, err
}

func (f *file) addSections(sections *yaml.Node) error {
	if isNull(sections) {
		return nil
	}
	return f.each(sections, "sources", func(path, settings *yaml.Node) error {
		if !filepath.IsAbs(path.Value) && !paths.IsURL(path.Value) {
			return f.errorAt(path, "", "source %q: expected a path that begins with /, or a URL", path.Value)
		}
		if isNull(settings) {
			return nil
		}
		s := section{path: path}
		err := f.each(settings, "settings", func(key, value *yaml.Node) error {
			return f.add(&s.settings, key, value, All)
		})
		source := resolve(path.Value)
		f.sections[source] = append(f.sections[source], s)
		return err
	})
}

// each calls do for the pairs of a mapping. No key may occur twice.
func (f *file) each(mapping *yaml.Node, content string, do func(key, value *yaml.Node) error) error {
	if mapping.Kind != yaml.MappingNode {
		return f.errorAt(mapping, "write them like cache-size: 4GiB", "expected %s by name", content)
	}
	seen := map[string]bool{}
	for pair := range slices.Chunk(mapping.Content, 2) {
		if seen[pair[0].Value] {
			return f.errorAt(pair[0], "", "%s is there twice", pair[0].Value)
		}
		seen[pair[0].Value] = true
		if err := do(pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

// add appends a setting. One without a value is ignored.
func (f *file) add(to *[]entry, key, value *yaml.Node, known []string) error {
	if !slices.Contains(known, key.Value) {
		advice := hint.DidYouMean(key.Value, known, "wkwfs mount --print-config lists the settings")
		return f.errorAt(key, advice, "unknown setting %s", key.Value)
	}
	if isNull(value) {
		return nil
	}
	text, err := f.text(key, value)
	if err != nil {
		return err
	}
	*to = append(*to, entry{key.Value, text, key.Line})
	return nil
}

// text returns a value as on the command line: a list has commas.
func (f *file) text(key, value *yaml.Node) (string, error) {
	switch value.Kind {
	case yaml.ScalarNode:
		return value.Value, nil
	case yaml.SequenceNode:
		var all []string
		for _, v := range value.Content {
			if v.Kind != yaml.ScalarNode {
				return "", f.errorAt(v, "", "%s: expected a list of words", key.Value)
			}
			all = append(all, v.Value)
		}
		return strings.Join(all, ","), nil
	}
	return "", f.errorAt(value, "", "%s: expected a word or a list of words", key.Value)
}

// of returns the settings for a source, the most important first. Two sections for the source, by two paths, are an
// error: nothing says which counts.
func (f *file) of(source string) ([]entry, error) {
	switch sections := f.sections[resolve(source)]; len(sections) {
	case 0:
		return f.general, nil
	case 1:
		return slices.Concat(sections[0].settings, f.general), nil
	default:
		first, second := sections[0].path, sections[1].path
		return nil, f.errorAt(second, "keep one of the two sections",
			"sources %q and %q, the latter on line %d, are the same: %s",
			second.Value, first.Value, first.Line, resolve(source))
	}
}

// at returns the file, the line and the name of an entry, for messages.
func (f *file) at(e entry) string {
	return fmt.Sprintf("%s:%d: %s", f.path, e.line, e.name)
}

func (f *file) errorAt(at *yaml.Node, advice, format string, args ...any) error {
	return hint.Usagef(advice, "%s:%d: %w", f.path, at.Line, fmt.Errorf(format, args...))
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// resolve returns the path free of links. A path that does not exist is only made absolute. URLs count without "/" at
// the end.
func resolve(path string) string {
	if paths.IsURL(path) {
		return strings.TrimRight(path, "/")
	}
	if real, err := paths.Real(path); err == nil {
		return real
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return absolute
}
