// Package jsonlimit parses JSON of untrusted files. Lists and objects have limits on their lengths, so that a file of
// some megabytes cannot fill the memory. Values are parsed one after the other, and an error ends that at once.
package jsonlimit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"iter"
)

// ReadFile reads a file of up to limit bytes. Its errors name the file, and the limit.
func ReadFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read-only: an error loses no data
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	tooLarge := fmt.Errorf("%s: expected at most %d bytes, found %d", name, limit, max(info.Size(), limit+1))
	if info.Size() > limit {
		return nil, tooLarge
	}
	b := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // no growing
	if _, err := b.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(b.Len()) > limit { // it has grown
		return nil, tooLarge
	}
	return b.Bytes(), nil
}

// Values yields the values of a list of up to limit values. what names them in the error. The value null is an empty
// list. An error is the last item.
func Values[T any](b []byte, limit int, what string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		d, err := open(b, '[', "a list of "+what)
		if d == nil {
			if err != nil {
				yield(none, err)
			}
			return
		}
		for n := 0; d.More(); n++ {
			if n == limit {
				yield(none, tooMany(limit, what))
				return
			}
			var value T
			err := d.Decode(&value)
			if !yield(value, err) || err != nil {
				return
			}
		}
		if _, err := d.Token(); err != nil {
			yield(none, err)
		}
	}
}

// List returns what [Values] yields.
func List[T any](b []byte, limit int, what string) ([]T, error) {
	var all []T
	for value, err := range Values[T](b, limit, what) {
		if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, nil
}

// Member is a member of an object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Members returns the members of an object in their order, up to limit of them. The value null is an empty object.
func Members(b []byte, limit int) ([]Member, error) {
	d, err := open(b, '{', "an object")
	if d == nil {
		return nil, err
	}
	all := []Member{}
	for d.More() {
		if len(all) == limit {
			return nil, tooMany(limit, "members of an object")
		}
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := Member{Name: name.(string)} // the decoder returns an error for any other token
		if err := d.Decode(&m.Value); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	_, err = d.Token()
	return all, err
}

// open returns a decoder after the first delimiter. It returns no decoder for null.
func open(b []byte, want json.Delim, what string) (*json.Decoder, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	switch t, err := d.Token(); {
	case err != nil:
		return nil, err
	case t == nil:
		return nil, nil
	case t != want:
		return nil, fmt.Errorf("expected %s, found %s", what, Abbreviate(b))
	}
	return d, nil
}

// TooManyError is the error for a list or an object that is longer than its limit.
type TooManyError struct {
	Limit int
	What  string // the values
}

func (e *TooManyError) Error() string {
	return fmt.Sprintf("expected at most %d %s, found more", e.Limit, e.What)
}

func tooMany(limit int, what string) error { return &TooManyError{limit, what} }

// Abbreviate returns the start of a text, short enough for an error.
func Abbreviate[T string | []byte | json.RawMessage](text T) string {
	const limit = 60
	if len(text) > limit {
		return string(text[:limit]) + "…"
	}
	return string(text)
}
