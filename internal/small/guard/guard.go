package guard

import (
	"iter"
	"runtime/debug"
	"sync/atomic"
)

// Func returns f behind a boundary. If f panics, the panic is logged at once, and what f was doing is dropped.
func Func(place string, f func()) func() {
	return FuncElse(place, f, func(err error) { Report(err) })
}

// FuncElse returns f behind a boundary. If f panics, failed is called with the [Error]. It hands the error to those
// that wait for f, or it calls [Report]. It must not panic.
func FuncElse(place string, f func(), failed func(error)) func() {
	return func() {
		if err := Do(place, func() error { f(); return nil }); err != nil {
			failed(err)
		}
	}
}

// Do returns the error of f, or an [Error] if f panics.
func Do(place string, f func() error) (err error) {
	defer Recover(place, func(e error) { err = e })
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return f()
}

// Call returns what f returns, or an [Error] if f panics.
func Call[T any](place string, f func() (T, error)) (result T, err error) {
	err = Do(place, func() (err error) { result, err = f(); return err })
	return result, err
}

// Seq yields what seq yields. A panic of seq is the last error, with the stack of seq: iter.Pull2 would repeat the
// panic without it. Seq passes the place itself.
func Seq[T any](place string, seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		goesOn := true
		err := Do(place, func() error {
			Pass(place)
			seq(func(item T, err error) bool {
				goesOn = yield(item, err)
				return goesOn
			})
			return nil
		})
		if err != nil && goesOn {
			var none T
			yield(none, err)
		} else {
			Report(err)
		}
	}
}

// Recover is a boundary for the function that defers it. If that panics, failed is called with the [Error].
func Recover(place string, failed func(error)) {
	if p := recover(); p != nil {
		failed(Recovered(place, p))
	}
}

// Relay brings the panic of a goroutine to the goroutine that waits for it. The zero value is ready.
type Relay struct{ first atomic.Pointer[Error] }

// Func returns f behind a boundary that keeps the panic.
func (r *Relay) Func(place string, f func()) func() {
	return FuncElse(place, f, func(err error) { r.first.CompareAndSwap(nil, err.(*Error)) })
}

// Repeat panics if a function has panicked. All functions have returned.
func (r *Relay) Repeat() {
	if e := r.first.Load(); e != nil {
		panic(repeated{e})
	}
}
