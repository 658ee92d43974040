package main

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
)

// sourcesKey is the key of the sections for single sources.
const sourcesKey = "sources"

// configFile is a configuration file: settings by the names of their flags, and under
// "sources" more of them for single sources.
//
//	cache-size: 4GiB
//	sources:
//	  /data/cortex:
//	    allow-other: true
type configFile struct {
	path     string
	general  []entry
	sections map[string][]entry // by the path of the source
}

// entry is a setting in a configuration file.
type entry struct {
	name, value string
	line        int
}

// readConfig reads a configuration file. Settings that do not exist are errors; values
// are checked where they are used.
func readConfig(path string) (*configFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return parseConfig(path, text)
}

func parseConfig(path string, text []byte) (*configFile, error) {
	c := &configFile{path: path, sections: map[string][]entry{}}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF): // nothing but comments
		return c, nil
	case err != nil:
		return nil, usageError("", "%s: %w", path, err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, usageError("", "%s: expected one document, found more", path)
	}
	root := document.Content[0]
	if isNull(root) {
		return c, nil
	}
	err := c.each(root, "settings", func(key, value *yaml.Node) error {
		if key.Value == sourcesKey {
			return c.takeSections(value)
		}
		return c.take(&c.general, key, value, append([]string{sourcesKey}, allSettings...))
	})
	return c, err
}

func (c *configFile) takeSections(sections *yaml.Node) error {
	if isNull(sections) {
		return nil
	}
	return c.each(sections, "sources", func(path, settings *yaml.Node) error {
		if !filepath.IsAbs(path.Value) {
			return c.fail(path, "", "source %q: expected a path that begins with /", path.Value)
		}
		if isNull(settings) {
			return nil
		}
		var section []entry
		err := c.each(settings, "settings", func(key, value *yaml.Node) error {
			return c.take(&section, key, value, allSettings)
		})
		c.sections[resolved(path.Value)] = section
		return err
	})
}

// each calls f for the pairs of a mapping.
func (c *configFile) each(mapping *yaml.Node, what string, f func(key, value *yaml.Node) error) error {
	if mapping.Kind != yaml.MappingNode {
		return c.fail(mapping, "write them like cache-size: 4GiB", "expected %s by name", what)
	}
	seen := map[string]bool{}
	for pair := range slices.Chunk(mapping.Content, 2) {
		if seen[pair[0].Value] {
			return c.fail(pair[0], "", "%s is there twice", pair[0].Value)
		}
		seen[pair[0].Value] = true
		if err := f(pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

// take takes a setting. One without a value says nothing.
func (c *configFile) take(to *[]entry, key, value *yaml.Node, known []string) error {
	if !slices.Contains(known, key.Value) {
		hint := "wkwfs mount --print-config lists the settings"
		if near := nearest(key.Value, known); near != "" {
			hint = fmt.Sprintf("did you mean %s?", near)
		}
		return c.fail(key, hint, "unknown setting %s", key.Value)
	}
	if isNull(value) {
		return nil
	}
	text, err := c.text(key, value)
	if err != nil {
		return err
	}
	*to = append(*to, entry{key.Value, text, key.Line})
	return nil
}

// text is a value as it would be written behind a flag: a list, with commas.
func (c *configFile) text(key, value *yaml.Node) (string, error) {
	switch value.Kind {
	case yaml.ScalarNode:
		return value.Value, nil
	case yaml.SequenceNode:
		var all []string
		for _, v := range value.Content {
			if v.Kind != yaml.ScalarNode {
				return "", c.fail(v, "", "%s: expected a list of words", key.Value)
			}
			all = append(all, v.Value)
		}
		return strings.Join(all, ","), nil
	}
	return "", c.fail(value, "", "%s: expected a word or a list of words", key.Value)
}

// of returns the settings for a source, the ones that count first.
func (c *configFile) of(source string) []entry {
	return slices.Concat(c.sections[resolved(source)], c.general)
}

// at says where an entry is.
func (c *configFile) at(e entry) string {
	return fmt.Sprintf("%s:%d: %s", c.path, e.line, e.name)
}

func (c *configFile) fail(at *yaml.Node, hint, format string, args ...any) error {
	return usageError(hint, "%s:%d: %w", c.path, at.Line, fmt.Errorf(format, args...))
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// resolved is the path without links, as far as there is something at it.
func resolved(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(absolute); err == nil {
		return real
	}
	return absolute
}
