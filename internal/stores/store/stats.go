package store

import "time"

// Stats counts the requests to the source of a [Scheduled].
type Stats struct {
	Reads, Lookups Answers
	Bytes          uint64 // bytes read

	Depth        int           // maximum of reads in flight, and of lookups
	InFlight     int           // requests in flight
	MostInFlight int           // the most requests that were in flight at a time
	LongestWait  time.Duration // time since the start of the oldest request in flight; 0 if there is none
	Late         bool          // the source is late, as its reads show

	// Of object stores, which a Scheduled does not count itself: requests over the network, and those of them that
	// repeated one that had failed. A read or a lookup may need none, or several.
	Requests, Repeated uint64
}

// Answers counts the answers to requests of one kind. P50 and P99 are percentiles of the time that answers
// took in the last minute, exact to 12 %. They are 0 if there were none.
type Answers struct {
	Count    uint64
	P50, P99 time.Duration
}

// Stats returns the current counts.
func (s *Scheduled) Stats() Stats { return s.queue.stats() }
