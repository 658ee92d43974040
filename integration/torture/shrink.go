package torture

import (
	"iter"
	"math"
	"reflect"
	"strings"
)

// shrink returns the smallest case that it finds for which fails is true. It ends when no smaller case fails, or when
// goOn returns false. tries is the number of calls of fails.
func shrink(c any, fails func(any) bool, goOn func() bool) (smallest any, tries int) {
	for found := true; found; {
		found = false
		for candidate := range smaller(reflect.ValueOf(c)) {
			if !goOn() {
				return c, tries
			}
			tries++
			if fails(candidate.Interface()) {
				c, found = candidate.Interface(), true
				break
			}
		}
	}
	return c, tries
}

var seedType = reflect.TypeFor[Seed]()

// smaller yields values that are smaller than v, those with the largest parts left out first. They may share memory
// with v, which does not change.
func smaller(v reflect.Value) iter.Seq[reflect.Value] {
	return func(yield func(reflect.Value) bool) { each(v, yield) }
}

// each calls yield with smaller values until yield returns false. Then it returns false, too.
func each(v reflect.Value, yield func(reflect.Value) bool) bool {
	if v.Type() == seedType {
		return true
	}
	switch v.Kind() {
	case reflect.Bool:
		return !v.Bool() || yield(reflect.Zero(v.Type()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return eachInt(v, yield)
	case reflect.Float64:
		return v.Float() == 0 || yield(reflect.Zero(v.Type())) && (v.Float() == math.Trunc(v.Float()) ||
			yield(with(v, func(n reflect.Value) { n.SetFloat(math.Trunc(v.Float())) })))
	case reflect.String:
		return eachString(v, yield)
	case reflect.Slice:
		return eachSlice(v, yield)
	case reflect.Array:
		return eachElement(v, yield)
	case reflect.Map:
		return eachMap(v, yield)
	case reflect.Struct:
		return eachStruct(v, yield)
	case reflect.Interface, reflect.Pointer:
		return eachInside(v, yield)
	}
	return true
}

// with returns a copy of v after a change.
func with(v reflect.Value, change func(reflect.Value)) reflect.Value {
	n := reflect.New(v.Type()).Elem()
	n.Set(v)
	change(n)
	return n
}

// eachInt makes a number smaller by all of it, a half, a quarter, and so on, down to 1.
func eachInt(v reflect.Value, yield func(reflect.Value) bool) bool {
	n := v.Int()
	for less := n; less != 0; less /= 2 {
		if !yield(with(v, func(to reflect.Value) { to.SetInt(n - less) })) {
			return false
		}
	}
	return true
}

// eachString leaves out pieces of a text. The pieces of a long text are longer than a 64th of it.
func eachString(v reflect.Value, yield func(reflect.Value) bool) bool {
	s := v.String()
	for size := len(s); size > len(s)/64; size /= 2 {
		for from := 0; from < len(s); from += size {
			shorter := s[:from] + s[min(from+size, len(s)):]
			if !yield(with(v, func(to reflect.Value) { to.SetString(strings.ToValidUTF8(shorter, "")) })) {
				return false
			}
		}
	}
	return true
}

// eachSlice leaves out elements, then makes single elements smaller.
func eachSlice(v reflect.Value, yield func(reflect.Value) bool) bool {
	for size := v.Len(); size > 0; size /= 2 {
		for from := 0; from < v.Len(); from += size {
			left := reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v.Slice(0, from))
			if !yield(reflect.AppendSlice(left, v.Slice(min(from+size, v.Len()), v.Len()))) {
				return false
			}
		}
	}
	return eachElement(v, yield)
}

// eachElement makes single elements of a slice or an array smaller.
func eachElement(v reflect.Value, yield func(reflect.Value) bool) bool {
	for i := range v.Len() {
		if !each(v.Index(i), func(element reflect.Value) bool {
			return yield(with(v, func(to reflect.Value) {
				if v.Kind() == reflect.Slice {
					to.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
				}
				to.Index(i).Set(element)
			}))
		}) {
			return false
		}
	}
	return true
}

// eachMap leaves out entries, then makes single values smaller.
func eachMap(v reflect.Value, yield func(reflect.Value) bool) bool {
	keys := sortedKeys(v)
	copied := func(change func(reflect.Value)) reflect.Value {
		m := reflect.MakeMap(v.Type())
		for _, k := range keys {
			m.SetMapIndex(k, v.MapIndex(k))
		}
		change(m)
		return m
	}
	for _, k := range keys {
		if !yield(copied(func(m reflect.Value) { m.SetMapIndex(k, reflect.Value{}) })) {
			return false
		}
	}
	for _, k := range keys {
		if !each(v.MapIndex(k), func(value reflect.Value) bool {
			return yield(copied(func(m reflect.Value) { m.SetMapIndex(k, value) }))
		}) {
			return false
		}
	}
	return true
}

func eachStruct(v reflect.Value, yield func(reflect.Value) bool) bool {
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		if !each(v.Field(i), func(field reflect.Value) bool {
			return yield(with(v, func(to reflect.Value) { to.Field(i).Set(field) }))
		}) {
			return false
		}
	}
	return true
}

// eachInside yields nil, then smaller values of the element of an interface or pointer.
func eachInside(v reflect.Value, yield func(reflect.Value) bool) bool {
	switch {
	case v.IsNil():
		return true
	case !yield(reflect.Zero(v.Type())):
		return false
	}
	return each(v.Elem(), func(inside reflect.Value) bool {
		return yield(with(v, func(to reflect.Value) {
			if v.Kind() == reflect.Interface {
				to.Set(inside)
				return
			}
			to.Set(reflect.New(inside.Type()))
			to.Elem().Set(inside)
		}))
	})
}
