package latefs

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
)

// Control is the path of the socket by which a file system that is mounted is asked and changed. Each line that is
// written to it is answered by a line. A line is flags, such as "-hang read -reset"; the answer is the [Counts] as
// JSON, or an object with the key "error". An empty line just asks.
type Control string

// Do changes the mode by flags, and returns what was counted before. It returns when requests that come from then on
// find the new mode.
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
		return Counts{}, fmt.Errorf("%s: the answer: %w", c, err)
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
				return // it was closed
			}
			go g.converse(conn)
		}
	}()
	return l, nil
}

// converse answers the lines of one who asks.
func (g *gate) converse(conn net.Conn) {
	defer conn.Close()
	out := json.NewEncoder(conn)
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if out.Encode(g.answer(strings.Fields(lines.Text()))) != nil {
			return // nobody reads the answers
		}
	}
}

// answer changes the mode by flags, and returns what was counted before.
func (g *gate) answer(flags []string) answer {
	mode, counts := g.now()
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
