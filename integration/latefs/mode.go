package latefs

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Kind is a kind of request.
type Kind string

// The kinds of requests. All but reads are looks.
const (
	Read     Kind = "read"
	Lookup   Kind = "lookup"
	Getattr  Kind = "getattr"
	Open     Kind = "open"
	Readdir  Kind = "readdir" // opendir, too
	Readlink Kind = "readlink"
	Getxattr Kind = "getxattr" // listxattr, too
)

// Kinds are all kinds.
var Kinds = []Kind{Read, Lookup, Getattr, Open, Readdir, Readlink, Getxattr}

// Mode is how requests are answered. The zero Mode answers at once.
type Mode struct {
	Read, Look time.Duration // how late a read and a look are answered
	Shuffle    bool          // how late is random, up to twice as much: answers come in another order than requests

	SlowOneIn int           // on average one of so many requests is held back; 0: none
	Slow      time.Duration // for how long

	Hang []Kind // requests of these kinds are not answered until they are no longer named here

	Interrupt bool // answer EINTR when any signal comes for who asks; else just when it is killed, as file servers do

	Fail     float64 // the share of stripes whose reads fail with EIO
	FailFrom int64   // the byte of each file from which on stripes can fail

	Seed uint64 // of everything that is random
}

// register makes flags of the mode. What they do not say stays as it is.
func (m *Mode) register(set *flag.FlagSet) {
	set.DurationVar(&m.Read, "read", m.Read, "how late each read is answered")
	set.DurationVar(&m.Look, "look", m.Look, "how late every other request is answered")
	set.BoolVar(&m.Shuffle, "shuffle", m.Shuffle, "make how late random, between 0 and twice as much")
	set.IntVar(&m.SlowOneIn, "slow-one-in", m.SlowOneIn, "hold one of `N` requests back; 0: none")
	set.DurationVar(&m.Slow, "slow", m.Slow, "for how long to hold it back")
	set.Func("hang", fmt.Sprintf("do not answer requests of these `kinds`, separated by commas, or none: %v", Kinds), m.setHang)
	set.BoolVar(&m.Interrupt, "interrupt", m.Interrupt, "answer EINTR when any signal comes for who asks, not just when it is killed")
	set.Float64Var(&m.Fail, "fail", m.Fail, fmt.Sprintf("the `share` of stripes of %d bytes whose reads fail", Stripe))
	set.Int64Var(&m.FailFrom, "fail-from", m.FailFrom, "the `byte` of each file from which on stripes can fail")
	set.Uint64Var(&m.Seed, "seed", m.Seed, "of everything that is random")
}

func (m *Mode) setHang(text string) error {
	var hang []Kind
	for name := range strings.SplitSeq(text, ",") {
		kind := Kind(name)
		switch {
		case slices.Contains(Kinds, kind):
			hang = append(hang, kind)
		case name != "":
			return fmt.Errorf("no kind of requests is called %q: expected some of %v", name, Kinds)
		}
	}
	m.Hang = hang
	return nil
}

// parse returns the mode with what the flags change. The flag -reset is returned.
func (m Mode) parse(flags []string) (changed Mode, reset bool, err error) {
	set := flag.NewFlagSet("latefs", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	m.register(set)
	set.BoolVar(&reset, "reset", false, "count from 0 on")
	if err := set.Parse(flags); err != nil {
		return m, false, err
	}
	if set.NArg() > 0 {
		return m, false, fmt.Errorf("expected flags, found %q", set.Args())
	}
	return m, reset, m.check()
}

func (m Mode) check() error {
	if m.Read < 0 || m.Look < 0 || m.Slow < 0 || m.SlowOneIn < 0 || m.FailFrom < 0 || m.Fail < 0 || m.Fail > 1 {
		return fmt.Errorf("expected no value below 0, and a share of at most 1, found %+v", m)
	}
	return nil
}

// Stripe is how many bytes of a file fail together.
const Stripe = 4 << 10

// Fails reports whether a read of n bytes from off on touches a stripe that fails. These are the same in all files.
func (m Mode) Fails(off, n int64) bool {
	if m.Fail == 0 || n <= 0 {
		return false
	}
	for stripe := off / Stripe; stripe*Stripe < off+n; stripe++ {
		if stripe*Stripe >= m.FailFrom && rand.New(rand.NewPCG(m.Seed, uint64(stripe))).Float64() < m.Fail {
			return true
		}
	}
	return false
}

// delay draws how late a request is answered.
func (m Mode) delay(kind Kind, random *rand.Rand) time.Duration {
	d := m.Look
	if kind == Read {
		d = m.Read
	}
	if m.Shuffle {
		d = time.Duration(random.Float64() * 2 * float64(d))
	}
	if m.SlowOneIn > 0 && random.IntN(m.SlowOneIn) == 0 {
		d += m.Slow
	}
	return d
}
