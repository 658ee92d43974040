package torture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"testing"
)

// Seed is a number from which a part of a case is made. It is never changed to make a case smaller.
type Seed uint64

// Rand returns a random source that gives the same numbers each time.
func (s Seed) Rand() *rand.Rand { return rand.New(rand.NewPCG(uint64(s), 0)) }

// Trial is a generator of cases, and a function that runs them. [New] makes one.
type Trial struct {
	Name     string
	generate func(*rand.Rand) any
	run      func(testing.TB, any)
	kind     reflect.Type // of a case
}

// New returns a trial. generate makes a case. run fails t if the program breaks a promise. It skips t if the case makes
// no sense, which is possible after parts were left out. The JSON of a case must have all of the case.
func New[C any](name string, generate func(*rand.Rand) C, run func(t testing.TB, c C)) Trial {
	return Trial{
		Name:     name,
		generate: func(r *rand.Rand) any { return generate(r) },
		run:      func(t testing.TB, c any) { run(t, c.(C)) },
		kind:     reflect.TypeFor[C](),
	}
}

// caseOf returns case n of a seed.
func (trial Trial) caseOf(seed uint64, n int) any {
	name := fnv.New64a()
	name.Write([]byte(trial.Name))
	return trial.generate(rand.New(rand.NewPCG(seed^name.Sum64(), uint64(n))))
}

// Parse returns the case with this JSON.
func (trial Trial) Parse(text []byte) (any, error) {
	c := reflect.New(trial.kind)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(c.Interface()); err != nil {
		return nil, fmt.Errorf("a case of %s: %w", trial.Name, err)
	}
	return c.Elem().Interface(), nil
}

// Try runs a case that Parse returned as a part of a test.
func (trial Trial) Try(t testing.TB, c any) { trial.run(t, c) }

// format returns the JSON of a case.
func format(c any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(c); err != nil {
		return fmt.Sprintf("%#v (no JSON: %v)", c, err)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
