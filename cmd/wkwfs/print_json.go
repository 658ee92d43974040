package main

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// printJSON prints a value as JSON that a terminal shows as it is.
func printJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(hint.EscapeJSON(b.Bytes()))
	return err
}
