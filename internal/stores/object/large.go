package object

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
)

// A directory with more entries than an answer has would take a round trip for each answer: the next one is asked for
// by the last key of this one. Large directories of datasets have numbers for names, and so their keys can be divided
// by digits without having seen them. The spans are asked for at the same time.

const (
	// maxSpans is the number of spans of all listings that are read ahead at a time.
	maxSpans = parallel.Lookups / 2

	// spanAhead is the number of answers that each has in memory.
	spanAhead = 4

	// fewAnswers is the size of directories that are not divided, in answers. Each span takes a request, also if
	// nothing is in it.
	fewAnswers = 3

	// maxNames is how many names a store may list for one directory: many more than a dataset needs, and few enough
	// that the listing of a store that invents names has an end.
	maxNames = 1 << 24
)

// span is the keys with a prefix, greater than after, that do not start with except.
type span struct {
	prefix, after string
	except        string // "": none
}

// divide returns spans with all keys of a directory that are greater than those of its first answer, in the order of
// the keys. It returns nil if the names are not numbers with the same text around, or if there are not enough of them.
func divide(prefix string, answer []Object) []span {
	if len(answer) < 2 {
		return nil
	}
	last := answer[len(answer)-1].Key
	start, end, ok := number(last, len(prefix))
	if !ok {
		return nil
	}
	before, suffix := last[:start], last[end:]
	largest := ""
	for _, o := range answer {
		if o.Key == prefix {
			continue // some programs make an object for each directory
		}
		digits, ok := strings.CutPrefix(o.Key, before)
		digits, ends := strings.CutSuffix(digits, suffix)
		if !ok || !ends || strings.Trim(digits, "0123456789") != "" || digits == "" {
			return nil
		}
		if shortFirst(digits, largest) > 0 {
			largest = digits
		}
	}
	if atMost(largest, last[start]) < fewAnswers*maxKept {
		return nil
	}
	digit := last[start]
	spans := []span{{prefix: before + string(digit), after: last}}
	for d := digit + 1; d <= '9'; d++ {
		spans = append(spans, span{prefix: before + string(d)})
	}
	// What starts with no digit comes after all that starts with 9. After is greater than nearly all of that.
	return append(spans, span{prefix: prefix, after: before + "9~", except: before + "9"})
}

// atMost returns how large the numbers in a directory may be, if this is the largest in an answer, and a number with
// this first digit is the last one. If the largest has the same first digit, larger ones may follow.
func atMost(largest string, digit byte) int {
	if largest[0] == digit {
		largest = strings.Repeat("9", len(largest))
	}
	n, err := strconv.Atoi(largest)
	if err != nil {
		return math.MaxInt
	}
	return n
}

// number returns where the last number in a name is, which starts at a byte of a key.
func number(key string, from int) (start, end int, ok bool) {
	const digits = "0123456789"
	end = strings.LastIndexAny(key, digits) + 1
	start = len(strings.TrimRight(key[:end], digits))
	return start, end, end > from && start >= from
}

// answers yields the objects and common prefixes in a directory, in the order of their keys. known is the first of
// them, which the caller has asked for, or nil. No request is in flight when the loop has ended.
func (f *FS) answers(dir string, known []Object) iter.Seq2[[]Object, error] {
	return func(yield func([]Object, error) bool) {
		ctx, cancel := context.WithCancel(context.Background())
		r := &spanReader{fs: f, ctx: ctx, dir: dir}
		defer r.ahead.Wait()
		defer cancel()
		all := span{prefix: prefixOf(dir)}
		if known == nil {
			r.readAndDivide(all, yield)
			return
		}
		if !yield(known, nil) {
			return
		}
		r.names.Store(int64(len(known)))
		all.after = known[len(known)-1].Key
		spans := r.divide(all.prefix, known)
		if spans == nil {
			spans = []span{all}
		}
		r.readAll(spans, yield)
	}
}

// spanReader lists one directory.
type spanReader struct {
	fs    *FS
	ctx   context.Context
	dir   string
	names atomic.Int64   // that the store has listed
	ahead sync.WaitGroup // goroutines that read ahead
}

// divide is [divide] for stores that list by any prefix.
func (r *spanReader) divide(prefix string, answer []Object) []span {
	if r.fs.facts.cannotListSubtrees() {
		return nil
	}
	return divide(prefix, answer)
}

// readAndDivide yields the objects of all of a directory. It divides what is left after the first answer.
func (r *spanReader) readAndDivide(all span, yield func([]Object, error) bool) {
	var spans []span
	first := true
	for objects, err := range r.read(all) {
		if !yield(objects, err) {
			return
		}
		if first && err == nil {
			if spans = r.divide(all.prefix, objects); spans != nil {
				break
			}
		}
		first = false
	}
	if spans != nil {
		r.readAll(spans, yield)
	}
}

// readAll yields the objects of spans in their order. It stops after an error.
func (r *spanReader) readAll(spans []span, yield func([]Object, error) bool) {
	all := make([]iter.Seq2[[]Object, error], len(spans))
	all[0] = r.read(spans[0])
	for i, s := range spans[1:] {
		all[i+1] = r.readAhead(s)
	}
	for _, answers := range all {
		for objects, err := range answers {
			if !yield(objects, err) || err != nil {
				return
			}
		}
	}
}

// read yields the objects of a span. All spans of a directory have up to maxNames names.
func (r *spanReader) read(s span) iter.Seq2[[]Object, error] {
	return func(yield func([]Object, error) bool) {
		for objects, err := range r.fs.b.List(r.ctx, s.prefix, s.after, "/") {
			if n := r.names.Add(int64(len(objects))); n > r.fs.names {
				yield(nil, fmt.Errorf("%s/%s: expected at most %d names in a directory, found %d and more: %w",
					r.fs.b.URL(), prefixOf(r.dir), r.fs.names, n, syscall.EIO))
				return
			}
			if s.except != "" {
				objects = slices.DeleteFunc(slices.Clone(objects),
					func(o Object) bool { return strings.HasPrefix(o.Key, s.except) })
			}
			if !yield(objects, err) {
				return
			}
		}
	}
}

// spanAnswer is an answer for a span. After an error there is no other.
type spanAnswer struct {
	objects []Object
	err     error
}

// readAhead is read in a goroutine, unless enough spans are being read ahead. Then the span is asked for when it is
// needed.
func (r *spanReader) readAhead(s span) iter.Seq2[[]Object, error] {
	select {
	case r.fs.spans <- struct{}{}:
	default:
		return r.read(s)
	}
	answers := make(chan spanAnswer, spanAhead)
	send := func(a spanAnswer) bool {
		select {
		case answers <- a:
			return true
		case <-r.ctx.Done():
			return false
		}
	}
	r.ahead.Go(guard.Func("object.span", func() {
		defer func() { <-r.fs.spans }()
		defer close(answers)
		defer guard.Recover("object.span", func(err error) { send(spanAnswer{err: err}) })
		guard.Pass("object.span")
		for objects, err := range r.read(s) {
			if !send(spanAnswer{objects: objects, err: err}) {
				return
			}
		}
	}))
	return received(answers)
}

// received yields the answers of a channel.
func received(answers <-chan spanAnswer) iter.Seq2[[]Object, error] {
	return func(yield func([]Object, error) bool) {
		for a := range answers {
			if !yield(a.objects, a.err) {
				return
			}
		}
	}
}
