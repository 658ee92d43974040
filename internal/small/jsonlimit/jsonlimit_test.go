package jsonlimit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestList(t *testing.T) {
	for _, c := range []struct {
		json string
		want []int
		err  string // empty: none
	}{
		{`[]`, nil, ""},
		{`null`, nil, ""},
		{` [ 1, 2,3 ] `, []int{1, 2, 3}, ""},
		{`[1,2,3,4]`, nil, "expected at most 3 numbers, found more"},
		{`[1,2,3,"`, nil, "expected at most 3 numbers, found more"},
		{`[1,"2"]`, nil, "cannot unmarshal string"},
		{`{}`, nil, "expected a list of numbers, found {}"},
		{`7`, nil, "expected a list of numbers, found 7"},
		{`[1,2`, nil, "EOF"},
		{``, nil, "EOF"},
		{`"` + strings.Repeat("x", 1000) + `"`, nil, "found \"" + strings.Repeat("x", 59) + "…"},
	} {
		got, err := List[int]([]byte(c.json), 3, "numbers")
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") ||
			err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%.40s: got %v, %v, want %v, %q", c.json, got, err, c.want, c.err)
		}
	}
	_, err := List[int]([]byte(`[1,2]`), 1, "numbers")
	if tooMany, ok := errors.AsType[*TooManyError](err); !ok || tooMany.Limit != 1 {
		t.Errorf("got %v", err)
	}
}

func TestMembers(t *testing.T) {
	for _, c := range []struct{ json, want, err string }{
		{`{}`, "[]", ""},
		{`null`, "[]", ""},
		{`{"b": 1, "a": [2, {}], "b": "3"}`, `[{b 1} {a [2, {}]} {b "3"}]`, ""},
		{`{"a":1,"b":2,"c":3,"d":4}`, "[]", "expected at most 3 members of an object, found more"},
		{`[]`, "[]", "expected an object, found []"},
		{`{"a":1`, "", "EOF"},
		{`{"a"}`, "[]", "expected colon"},
	} {
		members, err := Members([]byte(c.json), 3)
		type text struct{ name, value string }
		got := []text{}
		for _, m := range members {
			got = append(got, text{m.Name, string(m.Value)})
		}
		if c.want != "" && fmt.Sprint(got) != c.want || (err == nil) != (c.err == "") ||
			err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v, %v, want %s, %q", c.json, got, err, c.want, c.err)
		}
	}
}

func TestReadFile(t *testing.T) {
	fsys := fstest.MapFS{"info": {Data: []byte("12345")}}
	if b, err := ReadFile(fsys, "info", 5); string(b) != "12345" || err != nil {
		t.Errorf("got %q, %v", b, err)
	}
	const want = "info: expected at most 4 bytes, found 5"
	if b, err := ReadFile(fsys, "info", 4); b != nil || err == nil || err.Error() != want {
		t.Errorf("got %q, %v, want %s", b, err, want)
	}
}

// FuzzMembers compares Members with encoding/json.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a": [1, {"b": null}], "c": "d"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var want map[string]json.RawMessage
		if json.Unmarshal(b, &want) != nil {
			return
		}
		members, err := Members(b, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]json.RawMessage{}
		for _, m := range members {
			got[m.Name] = m.Value
		}
		if len(got) != len(want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
