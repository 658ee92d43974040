package remote

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/signer"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// keyring has the credentials of S3: those of the first source that has some. Credentials that expire are renewed while
// requests still use the old ones. Then no reader waits for a renewal.
type keyring struct {
	anonymous bool
	sources   []keySource
	log       *slog.Logger

	mu       sync.Mutex
	found    *keySource // the source that had credentials
	value    credentials.Value
	renewAt  time.Time // zero: the value never expires
	renewing *renewal  // in flight, or nil
	without  bool      // there are none: all requests stay unsigned
}

// renewal is one question to the sources.
type renewal struct {
	done chan struct{} // closed when err is set
	err  error
}

const (
	// renewalTime is the longest time of one question to all sources.
	renewalTime = 30 * time.Second

	// renewalPause is the shortest time between two questions, as long as the old credentials are valid.
	renewalPause = 30 * time.Second
)

func newKeyring(o Options, c awsConfig) (*keyring, error) {
	k := &keyring{anonymous: o.Anonymous, log: o.Log}
	if o.Anonymous {
		return k, nil
	}
	var err error
	k.sources, err = keySources(c)
	return k, err
}

// owner returns a name of the credentials, or "" if there are none: the id of keys, or where a session comes from,
// because sessions end and begin.
func (k *keyring) owner() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.found == nil:
		return ""
	case k.value.SessionToken == "":
		return "key " + k.value.AccessKeyID
	}
	return "session of " + k.found.name
}

// errNoCredentials is the error of a source that must have some.
var errNoCredentials = errors.New("there are no credentials")

// get returns credentials. ok is false if there are none.
func (k *keyring) get(ctx context.Context) (v credentials.Value, ok bool, err error) {
	if k.anonymous {
		return v, false, nil
	}
	v, ok, asked := k.current()
	if asked == nil {
		return v, ok, nil
	}
	select {
	case <-asked.done:
	case <-ctx.Done():
		return v, false, ctx.Err()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.value, asked.err == nil && !k.without, asked.err
}

// current returns the credentials, if they are valid or there are none, or the renewal to wait for.
func (k *keyring) current() (v credentials.Value, ok bool, asked *renewal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if v, ok := k.renew(time.Now()); ok || k.without {
		return v, ok, nil
	}
	return v, false, k.renewing
}

// renew returns the credentials, if they are valid. If they are not, or expire soon, it lets a goroutine ask for
// others. That ends with the answer, or with renewalTime. The caller holds the lock.
func (k *keyring) renew(now time.Time) (v credentials.Value, ok bool) {
	ok = isComplete(k.value) && (k.value.Expiration.IsZero() || now.Before(k.value.Expiration))
	if ok && (k.renewAt.IsZero() || now.Before(k.renewAt)) || k.without {
		return k.value, ok
	}
	if k.renewing == nil {
		k.renewing = &renewal{done: make(chan struct{})}
		r := k.renewing
		go guard.FuncElse("remote.credentials", func() { k.ask(r) },
			func(err error) { k.end(r, nil, credentials.Value{}, err) })()
	}
	return k.value, ok
}

// ask asks the sources, and keeps what they answer.
func (k *keyring) ask(r *renewal) {
	ctx, cancel := context.WithTimeout(context.Background(), renewalTime)
	defer cancel()
	guard.Pass("remote.credentials")
	source, v, err := k.retrieve(ctx)
	k.end(r, source, v, err)
}

// end ends a renewal. The source is nil if there are no credentials.
func (k *keyring) end(r *renewal, source *keySource, v credentials.Value, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	defer close(r.done)
	k.renewing = nil
	now := time.Now()
	switch {
	case err != nil:
		if r.err, k.renewAt = err, now.Add(renewalPause); now.Before(k.value.Expiration) {
			k.log.Warn("the credentials cannot be renewed", "expire", k.value.Expiration, "err", credentialsText(err))
		}
	case source == nil:
		k.without = true
	default:
		k.found, k.value, k.renewAt = source, v, time.Time{}
		if !v.Expiration.IsZero() {
			k.renewAt = now.Add(max(v.Expiration.Sub(now)*4/5, renewalPause))
		}
	}
}

// retrieve returns the credentials of the first source that has some, and the source. Later it asks only that one. The
// source is nil if none has credentials.
func (k *keyring) retrieve(ctx context.Context) (*keySource, credentials.Value, error) {
	if k.found != nil { // only ask writes it, and there is one at a time
		v, err := k.found.get(ctx)
		return k.found, v, err
	}
	for i := range k.sources {
		s := &k.sources[i]
		v, err := s.get(ctx)
		if err == nil || s.required {
			return s, v, err
		}
	}
	return nil, credentials.Value{}, nil
}

// keySource is where credentials may be.
type keySource struct {
	from     retriever
	required bool // a setting names this source: it is an error if it has none
	name     string
}

// retriever is the part of [credentials.Provider] that is used.
type retriever interface {
	RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error)
}

// get returns the credentials of a source, or an error.
func (s *keySource) get(ctx context.Context) (credentials.Value, error) {
	v, err := s.from.RetrieveWithCredContext(&credentials.CredContext{Client: loginClient(), Context: ctx})
	if err == nil && !isComplete(v) {
		err = errNoCredentials
	}
	return v, err
}

func isComplete(v credentials.Value) bool { return v.AccessKeyID != "" && v.SecretAccessKey != "" }

// hint says what to do if the store refuses the credentials.
func (k *keyring) hint() string {
	if k.anonymous {
		return "without --anonymous, credentials come from AWS_ACCESS_KEY_ID, AWS_PROFILE, ~/.aws or the role of the machine"
	}
	return "credentials come from AWS_ACCESS_KEY_ID, AWS_PROFILE, ~/.aws or the role of the machine; --anonymous reads public data without them"
}

// emptySHA256 is the checksum of a request without a body.
const emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// signed signs a request, if there are credentials. Those of a role may be late.
func (b *s3) signed(q *http.Request) (*http.Request, error) {
	v, ok, err := b.keys.get(q.Context())
	if guard.Is(err) {
		return nil, err
	}
	if err != nil {
		return nil, &failure{
			method: "credentials for", url: b.URL(), text: credentialsText(err), class: fs.ErrPermission,
			temporary: isTemporaryLogin(err),
		}
	}
	if !ok {
		return q, nil
	}
	q.Header.Set("X-Amz-Content-Sha256", emptySHA256)
	return signer.SignV4(*q, v.AccessKeyID, v.SecretAccessKey, v.SessionToken, b.place.Load().region), nil
}

// credentialsText returns the text of an error without the URL that was asked, which may have secrets.
func credentialsText(err error) string {
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	return clean(err.Error())
}

// isTemporaryLogin reports whether another attempt to get credentials may succeed. Package credentials has no type for
// the status of an answer, which is the start of its text.
func isTemporaryLogin(err error) bool {
	var asked *url.Error
	var refused credentials.ErrorResponse
	var lookup *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.As(err, &lookup) && lookup.IsNotFound:
		return false
	case errors.As(err, &refused):
		return strings.Contains(refused.STSError.Code, "Throttl") || refused.STSError.Type == "Receiver"
	case errors.As(err, &asked), errors.Is(err, context.DeadlineExceeded):
		return true
	}
	return strings.HasPrefix(err.Error(), "5") || strings.HasPrefix(err.Error(), "429")
}
