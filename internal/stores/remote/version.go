package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// validators are what an answer says about the version of an object. Fields that it does not have are "".
type validators struct {
	strong  string // an ETag in quotes, or a generation: it stands for the bytes
	weak    string // an ETag in quotes, without W/: another one stands for other bytes
	changed string // the time of the last change
}

// weakMark starts the weak ETag in a version.
const weakMark = " W/"

// version returns the version of an object: what stands for its bytes, else timeVersion with the time and a weak ETag,
// else "".
func (v validators) version() string {
	switch {
	case v.strong != "":
		return v.strong
	case v.weak != "":
		return timeVersion + v.changed + weakMark + v.weak
	case v.changed != "":
		return timeVersion + v.changed
	}
	return ""
}

// parseVersion is the inverse of version.
func parseVersion(version string) validators {
	rest, ok := strings.CutPrefix(version, timeVersion)
	if !ok {
		return validators{strong: version}
	}
	changed, weak, _ := strings.Cut(rest, weakMark)
	return validators{weak: weak, changed: changed}
}

// and returns the validators, and those of another answer that they lack.
func (v validators) and(other validators) validators {
	return validators{or(v.strong, other.strong), or(v.weak, other.weak), or(v.changed, other.changed)}
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// verdict is what an answer says about the version of its bytes.
type verdict int

const (
	same    verdict = iota // it is the one that was expected
	unknown                // the answer does not say
	other                  // it is another one
)

// compare compares the validators of an answer with those that are expected.
func (v validators) compare(answer validators) verdict {
	switch {
	case v.strong != "" && answer.strong != "":
		if v.strong == answer.strong {
			return same
		}
		return other
	case differ(v.weak, answer.weak), differ(v.changed, answer.changed):
		return other
	case v.strong != "", v.changed != "" && answer.changed == "":
		return unknown
	// some servers give a weak one until a file is a second old
	case v.weak != "" && answer.weak == "" && answer.strong != v.weak:
		return unknown
	}
	return same
}

// differ reports whether two validators are there and differ.
func differ(a, b string) bool { return a != "" && b != "" && a != b }

// validatorsOf returns the validators of an answer over HTTP.
func validatorsOf(h http.Header) validators {
	v := validators{strong: strongTag(h.Get("Etag"))}
	if weak, ok := strings.CutPrefix(strings.TrimSpace(h.Get("Etag")), "W/"); ok {
		v.weak = strongTag(weak)
	}
	if t := modified(h); !t.IsZero() {
		v.changed = strconv.FormatInt(t.Unix(), 10)
	}
	return v
}

// strongTag returns an ETag in quotes. It returns "" if there is none, or if it is weak.
func strongTag(tag string) string {
	tag = strings.TrimSpace(tag)
	if strings.HasPrefix(tag, "W/") || strings.Trim(tag, `"`) == "" {
		return ""
	}
	if !strings.HasPrefix(tag, `"`) { // some gateways leave the quotes away
		tag = `"` + tag + `"`
	}
	return tag
}

// timeVersion starts the version of an object that is known by the time of its last change, or by a weak ETag.
const timeVersion = "@"

// modified returns the time of the last change, or the zero time.
func modified(h http.Header) time.Time {
	t, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil {
		return time.Time{}
	}
	return t
}

// setCondition asks for one version of an object. A time is no condition: servers keep fractions of seconds that HTTP
// has not, and would refuse the version that they have described. Neither is a weak ETag: it never matches.
func setCondition(h http.Header, version string) {
	if version != "" && !strings.HasPrefix(version, timeVersion) {
		h.Set("If-Match", version)
	}
}

// described is an object with its validators.
type described struct {
	object.Object
	validators validators
}

// complete returns a described object with its version. If the description has nothing that stands for the bytes,
// complete reads one byte: reads may have what the description lacks, and a read that says more than the version could
// not be compared. get is the request of a read.
func (c *client) complete(ctx context.Context, d described, get request,
	of func(http.Header) validators) (object.Object, error) {
	d.Version = d.validators.version()
	if d.validators.strong != "" || d.Size == 0 || d.Version != "" && c.readsSay.Load() == noMore {
		return d.Object, nil
	}
	get.header.Set("Range", "bytes=0-0")
	var read validators
	err := c.do(ctx, get, func(answer *http.Response) error {
		read = of(answer.Header)
		return nil
	})
	if err != nil {
		return d.Object, explainRead(err)
	}
	c.recordReads(d.validators, read)
	d.Version = d.validators.and(read).version()
	return d.Object, nil
}

// Whether answers to reads have validators that descriptions lack.
const (
	notKnown = iota
	noMore   // so no description needs a read
	more     // of some objects: so all descriptions need one
)

// recordReads records whether a read has shown more than is expected.
func (c *client) recordReads(expected, read validators) {
	if expected.and(read) != expected {
		c.readsSay.Store(more)
		return
	}
	c.readsSay.CompareAndSwap(notKnown, noMore)
}

// confirm returns an error unless an object still has the version and the size of o. It is asked after a read, r, whose
// answer did not say them.
func confirm(ctx context.Context, r request, o object.Object, describe func(context.Context, string) (object.Object,
	error)) error {
	now, err := describe(ctx, o.Key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return explainRead(err)
	case err != nil:
		return err
	case o.Version != "" && now.Version != o.Version:
		return fmt.Errorf("%s %s: expected version %s, found %s: %w", r.method, shown(r.url), o.Version,
			clean(now.Version), vfs.ErrChanged)
	case now.Size != o.Size:
		return fmt.Errorf("%s %s: expected %d bytes, found %d: %w", r.method, shown(r.url), o.Size, now.Size,
			vfs.ErrChanged)
	}
	return nil
}

// describeAnswer describes an object by an answer to HEAD.
func describeAnswer(key string, answer *http.Response) (described, error) {
	if answer.ContentLength < 0 {
		return described{}, permanent{fmt.Errorf("the answer has no Content-Length: %w", syscall.EIO)}
	}
	return described{object.Object{Key: key, Size: answer.ContentLength, Modified: modified(answer.Header)},
		validatorsOf(answer.Header)}, nil
}
