package vfstest

import (
	"io"
	"io/fs"
	"reflect"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// Reasons say why abilities are not forwarded, by names such as "file.Speed". What has no name of an ability is an
// error.
type Reasons map[string]string

// Forwards checks that a file system which is made of inside has the abilities of inside, and so have its file name and
// the description of it. But those in not must not be forwarded.
func Forwards(t *testing.T, inside *Inside, fsys fs.FS, name string, not Reasons) {
	t.Helper()
	f, err := fsys.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	described, err := fs.Stat(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	within, err := inside.Open(Name)
	if err != nil {
		t.Fatal(err)
	}
	defer within.Close()
	about, err := inside.Stat(Name)
	if err != nil {
		t.Fatal(err)
	}
	for of, pair := range map[kind][2]any{tree: {inside, fsys}, file: {within, f}, info: {about, described}} {
		forwards(t, inside, of, pair[0], pair[1], not)
	}
	checkReasons(t, not)
}

// ReportsSpeed checks that what is made of the files in inside, such as a cube, has their speed, as a function changes
// it.
func ReportsSpeed(t *testing.T, inside *Inside, source any, as func(vfs.Speed) vfs.Speed) {
	t.Helper()
	for _, inside.Says = range []bool{false, true} {
		if got, want := vfs.SpeedOf(source), as(inside.Speed()); got != want {
			t.Errorf("%T: got %+v, want %+v", source, got, want)
		}
	}
}

// forwards checks the abilities of one kind.
func forwards(t *testing.T, inside *Inside, of kind, within, wrapper any, not Reasons) {
	t.Helper()
	for _, a := range abilities {
		if a.of != of {
			continue
		}
		switch reason, ok := not[a.String()]; {
		case a.forwardedBy(wrapper, within, inside) && ok:
			t.Errorf("%T forwards %s, which the table says it must not: %s", wrapper, a, reason)
		case !a.forwardedBy(wrapper, within, inside) && !ok:
			t.Errorf("%T swallows %s", wrapper, a)
		}
	}
}

// forwardedBy reports whether a wrapper has an ability and uses that of its inside, whatever that answers.
func (a ability) forwardedBy(wrapper, within any, inside *Inside) bool {
	var last any
	for i, says := range []bool{false, true} {
		inside.Says = says
		want, _ := a.use(within)
		before := inside.count(a.String())
		got, ok := a.use(wrapper)
		if seeker, seeks := wrapper.(io.Seeker); a.name == "Seek" && seeks {
			_, _ = seeker.Seek(0, io.SeekStart)
		}
		if !ok || inside.count(a.String()) == before {
			return false
		}
		if !a.derived && !reflect.DeepEqual(got, want) || a.derived && i > 0 && reflect.DeepEqual(got, last) {
			return false
		}
		last = got
	}
	return true
}

// checkReasons checks that all names are those of abilities, and have a reason.
func checkReasons(t *testing.T, not Reasons) {
	t.Helper()
	for name, reason := range not {
		if !known(name) || reason == "" {
			t.Errorf("%s is no ability, or has no reason", name)
		}
	}
}

func known(name string) bool {
	for _, a := range abilities {
		if a.String() == name {
			return true
		}
	}
	return false
}
