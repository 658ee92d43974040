package cloudproxy

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Rules says how a proxy answers. The zero value passes everything at once.
type Rules struct {
	Delay time.Duration // before each answer
	// at most so much more, at random: answers to requests that were sent together arrive in another order
	Jitter time.Duration
	Rate   int64 // bytes per second of each body; 0: no limit

	// Fault chooses what is wrong with the answer to a request. nil, or the zero Fault: nothing. It is called by many
	// goroutines.
	Fault func(*http.Request) Fault
}

// Fault is one way in which an answer is wrong. Status comes with a Header and a Body; otherwise at most one field is
// set. Shift, Whole and Always change the request, which makes signatures invalid that include these headers.
type Fault struct {
	Status    int           // the proxy answers with this status; the server is not asked
	Header    http.Header   // of that answer
	Body      string        // of that answer
	Cut       bool          // the connection breaks in the middle of the body
	Short     bool          // the answer has half of the bytes, and its headers agree with each other
	Shift     bool          // the range starts a byte later than the one that was requested, and Content-Range says so
	Size      bool          // Content-Range says that the object has a byte more than it has
	Whole     bool          // the range of the request is ignored: 200 with the whole object
	Always    bool          // the conditions of the request are ignored: the content that there is now
	Hang      bool          // there is no answer until the client leaves or the proxy closes
	HangBody  bool          // the body stops in the middle until the client leaves or the proxy closes
	Reset     bool          // the connection ends without an answer
	NoVersion bool          // ETag, Last-Modified and the generation are removed
	Pause     time.Duration // the answer is so much later
}

// Sometimes returns a function for [Rules.Fault] that gives one of the faults to a share of the requests, 0 to 1. The
// choices follow from the seed and the order of the requests.
func Sometimes(seed uint64, share float64, faults ...Fault) func(*http.Request) Fault {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 0))
	return func(*http.Request) Fault {
		mu.Lock()
		defer mu.Unlock()
		if random.Float64() >= share {
			return Fault{}
		}
		return faults[random.IntN(len(faults))]
	}
}

// Always returns a function for [Rules.Fault] that gives a fault to every request.
func Always(f Fault) func(*http.Request) Fault { return func(*http.Request) Fault { return f } }

// Transient returns the faults that a client has to repeat its request after.
func Transient() []Fault {
	return []Fault{
		{Status: http.StatusInternalServerError},
		{Status: http.StatusBadGateway},
		{Status: http.StatusServiceUnavailable, Body: slowDown},
		{Status: http.StatusGatewayTimeout},
		{Status: http.StatusTooManyRequests},
		{Cut: true},
		{Reset: true},
	}
}

// slowDown is what S3 answers to too many requests.
const slowDown = `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message><RequestId>4442587FB7D0A2F9</RequestId></Error>`
