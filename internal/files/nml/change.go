package nml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Change returns a file in which the attributes of volumes have other values. set is called for each volume, in the
// order of the file, with its attributes, and returns those that are set. All else stays as it is, byte for byte.
func Change(file []byte, set func(i int, a map[string]string) (map[string]string, error)) ([]byte, error) {
	d := xml.NewDecoder(bytes.NewReader(file))
	var out bytes.Buffer
	copied, volumes := int64(0), 0
	for {
		start := d.InputOffset()
		token, err := d.RawToken()
		if err == io.EOF {
			out.Write(file[copied:])
			return out.Bytes(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("NML at byte %d: %w", start, err)
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != "volume" {
			continue
		}
		end := d.InputOffset()
		changes, err := set(volumes, attributesOf(e))
		if volumes++; err != nil {
			return nil, err
		}
		tag, err := changed(string(file[start:end]), changes)
		if err != nil {
			return nil, fmt.Errorf("NML at byte %d: volume: %w", start, err)
		}
		out.Write(file[copied:start])
		out.WriteString(tag)
		copied = end
	}
}

// changed returns a tag with other values of attributes. Those that it lacks are added at its end.
func changed(tag string, changes map[string]string) (string, error) {
	for name := range changes {
		if !utf8.ValidString(changes[name]) {
			return "", fmt.Errorf("attribute %s: expected UTF-8", name)
		}
	}
	names := make([]string, 0, len(changes))
	for name := range changes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		from, to, err := valueIn(tag, name)
		if err != nil {
			return "", err
		}
		var escaped strings.Builder
		xml.EscapeText(&escaped, []byte(changes[name])) // it never fails
		if from < 0 {
			end := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(tag, ">"), "/"), " \t\r\n")
			tag = end + " " + name + `="` + escaped.String() + `"` + tag[len(end):]
			continue
		}
		tag = tag[:from] + `"` + escaped.String() + `"` + tag[to:]
	}
	return tag, nil
}

// errTag is the error for a tag that package xml reads otherwise than valueIn.
var errTag = errors.New("expected attributes with values in quotes")

// valueIn returns where a tag has the value of an attribute, with its quotes. from is negative if the tag lacks it.
func valueIn(tag, name string) (from, to int, err error) {
	const blank = " \t\r\n"
	i := strings.IndexAny(tag, blank+"/>")
	for i >= 0 && i < len(tag) {
		rest := strings.TrimLeft(tag[i:], blank)
		if rest == "" || rest[0] == '/' || rest[0] == '>' {
			return -1, -1, nil
		}
		key, after, ok := strings.Cut(rest, "=")
		value := strings.TrimLeft(after, blank)
		if !ok || value == "" || value[0] != '"' && value[0] != '\'' {
			return 0, 0, errTag
		}
		end := strings.IndexByte(value[1:], value[0])
		if end < 0 {
			return 0, 0, errTag
		}
		from = len(tag) - len(value)
		to = from + end + 2
		if strings.TrimRight(key, blank) == name {
			return from, to, nil
		}
		i = to
	}
	return 0, 0, errTag
}
