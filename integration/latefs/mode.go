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

// The kinds of requests. All kinds except Read are metadata requests.
const (
	Read     Kind = "read"
	Lookup   Kind = "lookup"
	Getattr  Kind = "getattr"
	Open     Kind = "open"
	Readdir  Kind = "readdir" // and opendir
	Readlink Kind = "readlink"
	Getxattr Kind = "getxattr" // and listxattr
)

// Kinds has all kinds.
var Kinds = []Kind{Read, Lookup, Getattr, Open, Readdir, Readlink, Getxattr}

// Mode defines how requests are answered. The zero Mode answers at once.
type Mode struct {
	Read     time.Duration // delay of each read
	Metadata time.Duration // delay of each other request
	Shuffle  bool          // make delays random, from 0 to twice the value, so that answers arrive out of order

	SlowOneIn int           // on average, one of SlowOneIn requests is delayed by Slow; 0: none
	Slow      time.Duration // added to the delay of a slow request

	Hang []Kind // requests of these kinds get no answer until another mode is set

	// any signal to the caller cancels a request with EINTR; by default only SIGKILL does, as with file servers
	Interrupt bool

	Fail     float64 // fraction of the stripes whose reads fail with EIO
	FailFrom int64   // byte offset in each file; stripes before it do not fail

	Seed uint64 // of all random choices
}

// register adds flags that change the mode. A flag that is not given leaves its field unchanged.
func (m *Mode) register(set *flag.FlagSet) {
	set.DurationVar(&m.Read, "read", m.Read, "delay each read by this `duration`")
	set.DurationVar(&m.Metadata, "metadata", m.Metadata, "delay each other request by this `duration`")
	set.BoolVar(&m.Shuffle, "shuffle", m.Shuffle, "make delays random, from 0 to twice the value")
	set.IntVar(&m.SlowOneIn, "slow-one-in", m.SlowOneIn, "make one of `N` requests slow; 0: none")
	set.DurationVar(&m.Slow, "slow", m.Slow, "delay a slow request by this `duration` more")
	set.Func("hang",
		fmt.Sprintf("do not answer requests of these `kinds`, separated by commas; empty: answer all. The kinds are %v",
			Kinds), m.setHang)
	set.BoolVar(&m.Interrupt, "interrupt", m.Interrupt,
		"cancel a request with EINTR when its caller gets any signal, not only SIGKILL")
	set.Float64Var(&m.Fail, "fail", m.Fail, fmt.Sprintf("`fraction` of the stripes of %d bytes whose reads fail",
		Stripe))
	set.Int64Var(&m.FailFrom, "fail-from", m.FailFrom, "byte `offset` in each file; stripes before it do not fail")
	set.Uint64Var(&m.Seed, "seed", m.Seed, "seed of all random choices")
}

func (m *Mode) setHang(text string) error {
	var hang []Kind
	for name := range strings.SplitSeq(text, ",") {
		kind := Kind(name)
		switch {
		case slices.Contains(Kinds, kind):
			hang = append(hang, kind)
		case name != "":
			return fmt.Errorf("unknown kind of request %q: expected some of %v", name, Kinds)
		}
	}
	m.Hang = hang
	return nil
}

// parse returns the mode as changed by the flags, and whether they have -reset.
func (m Mode) parse(flags []string) (changed Mode, reset bool, err error) {
	set := flag.NewFlagSet("latefs", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	m.register(set)
	set.BoolVar(&reset, "reset", false, "set the counts to 0")
	if err := set.Parse(flags); err != nil {
		return m, false, err
	}
	if set.NArg() > 0 {
		return m, false, fmt.Errorf("expected flags, found %q", set.Args())
	}
	return m, reset, m.check()
}

func (m Mode) check() error {
	if m.Read < 0 || m.Metadata < 0 || m.Slow < 0 || m.SlowOneIn < 0 || m.FailFrom < 0 || m.Fail < 0 || m.Fail > 1 {
		return fmt.Errorf("expected no negative value and a fraction of at most 1, found %+v", m)
	}
	return nil
}

// Stripe is the length in bytes of the parts of a file that fail as a unit.
const Stripe = 4 << 10

// Fails reports whether a read of n bytes at off touches a stripe that fails. The same stripes fail in all
// files.
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

// delay returns the delay of a request. Parts of it may be random.
func (m Mode) delay(kind Kind, random *rand.Rand) time.Duration {
	d := m.Metadata
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
