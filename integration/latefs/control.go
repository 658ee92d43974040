package latefs

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
)

// Control is the path of the socket that reads and changes the state of a mounted file system. It answers each
// line with a line. A request is a list of flags, such as "-hang read -reset". The answer is the [Counts] as
// JSON, or an object with the key "error". An empty line changes nothing.
type Control string

// Do changes the mode by flags and returns the counts from before the change. When it returns, new requests use
// the new mode.
func (c Control) Do(flags ...string) (Counts, error) {
	conn, err := net.Dial("unix", string(c))
	if err != nil {
		return Counts{}, err
	}
	defer conn.Close()
	if _, err := fmt.Fprintln(conn, strings.Join(flags, " ")); err != nil {
		return Counts{}, err
	}
	var a answer
	if err := json.NewDecoder(conn).Decode(&a); err != nil {
		return Counts{}, fmt.Errorf("%s: decoding the answer: %w", c, err)
	}
	if a.Error != "" {
		return Counts{}, errors.New(a.Error)
	}
	return a.Counts, nil
}

type answer struct {
	Counts
	Error string `json:"error,omitempty"`
}

// listen answers at the socket until the returned listener is closed.
func listen(path string, g *gate) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // the listener was closed
			}
			go g.serveConn(conn)
		}
	}()
	return l, nil
}

// serveConn answers the lines of one connection.
func (g *gate) serveConn(conn net.Conn) {
	defer conn.Close()
	out := json.NewEncoder(conn)
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if out.Encode(g.answer(strings.Fields(lines.Text()))) != nil {
			return // the client is gone
		}
	}
}

// answer changes the mode by flags and returns the counts from before the change.
func (g *gate) answer(flags []string) answer {
	mode, counts := g.snapshot()
	if len(flags) == 0 {
		return answer{Counts: counts}
	}
	mode, reset, err := mode.parse(flags)
	if err != nil {
		return answer{Error: err.Error()}
	}
	g.set(mode, reset)
	return answer{Counts: counts}
}
