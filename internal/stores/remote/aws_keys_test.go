package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// issuer gives credentials that are valid for an hour. An answer takes a second.
type issuer struct {
	given atomic.Int64
	fails atomic.Bool
}

func (i *issuer) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	time.Sleep(time.Second)
	n := i.given.Add(1)
	if i.fails.Load() {
		return credentials.Value{}, errors.New("500 Internal Server Error")
	}
	return credentials.Value{AccessKeyID: fmt.Sprintf("K%d", n), SecretAccessKey: "geheim",
		Expiration: time.Now().Add(time.Hour)}, nil
}

// TestCredentialsAreRenewed: requests never wait for a renewal, and the service is asked once at a time. If it fails,
// the old credentials count until they expire. Then requests wait, and get the error.
func TestCredentialsAreRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{}
		var log strings.Builder
		k := &keyring{sources: []keySource{{from: i, required: true}}, log: slog.New(slog.NewTextHandler(&log, nil))}
		start := time.Now()
		results := make(chan string)
		for range 5 {
			go func() {
				v, _, err := k.get(t.Context())
				results <- fmt.Sprint(v.AccessKeyID, err)
			}()
		}
		for range 5 {
			if got := <-results; got != "K1<nil>" {
				t.Errorf("got %s", got)
			}
		}
		if took := time.Since(start); took != time.Second || i.given.Load() != 1 {
			t.Errorf("the first credentials took %s and %d questions", took, i.given.Load())
		}
		var seen []string
		for range 2 * 60 {
			asked := time.Now()
			v, ok, err := k.get(t.Context())
			if err != nil || !ok || time.Since(asked) != 0 || time.Now().After(v.Expiration) {
				t.Fatalf("after %s: %v, %t, %v, waited %s", time.Since(start), v, ok, err, time.Since(asked))
			}
			if len(seen) == 0 || seen[len(seen)-1] != v.AccessKeyID {
				seen = append(seen, v.AccessKeyID)
			}
			time.Sleep(time.Minute)
		}
		if got := strings.Join(seen, " "); got != "K1 K2 K3" {
			t.Errorf("got the keys %s in two hours", got)
		}

		i.fails.Store(true)
		failed := time.Now()
		before := i.given.Load()
		var err error
		for err == nil {
			time.Sleep(time.Second)
			_, _, err = k.get(t.Context())
		}
		if lasted := time.Since(failed); lasted < 10*time.Minute || lasted > time.Hour+time.Minute {
			t.Errorf("the old credentials lasted %s", lasted)
		}
		if n := i.given.Load() - before; n > 120 {
			t.Errorf("%d questions to a service that fails", n)
		}
		if !isTemporaryLogin(err) || !strings.Contains(log.String(), "cannot be renewed") ||
			strings.Contains(log.String(), "geheim") {
			t.Errorf("got %v, logged %s", err, log.String())
		}
		i.fails.Store(false)
		if v, ok, err := k.get(t.Context()); !ok || err != nil {
			t.Errorf("later: %v, %v", v, err)
		}
	})
}

// TestCredentialsPanic: a panic while credentials are asked for is the error of the requests that wait for them. The
// next request asks again.
func TestCredentialsPanic(t *testing.T) {
	guard.LogTo(slog.New(slog.DiscardHandler))
	defer guard.LogTo(nil)
	synctest.Test(t, func(t *testing.T) {
		k := &keyring{sources: []keySource{{from: &issuer{}, required: true}}, log: slog.New(slog.DiscardHandler)}
		var panicked atomic.Bool
		defer guard.Inject(func(place string) {
			if place == "remote.credentials" && !panicked.Swap(true) {
				panic("injected")
			}
		})()
		if _, ok, err := k.get(t.Context()); ok || !guard.Is(err) {
			t.Errorf("got %t, %v", ok, err)
		}
		if _, ok, err := k.get(t.Context()); !ok || err != nil {
			t.Errorf("later: %t, %v", ok, err)
		}
	})
}

// TestStallPanics: an attempt that makes no progress ends, even if its timer panics.
func TestStallPanics(t *testing.T) {
	guard.LogTo(slog.New(slog.DiscardHandler))
	defer guard.LogTo(nil)
	synctest.Test(t, func(t *testing.T) {
		defer guard.Inject(func(place string) {
			if place == "remote.stall" {
				panic("injected")
			}
		})()
		ctx, stall := watch(t.Context(), time.Second)
		defer stall.stop()
		<-ctx.Done()
	})
}

// TestCredentialsCanBeLeft: a reader does not have to wait for credentials.
func TestCredentialsCanBeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keyring{sources: []keySource{{from: &issuer{}, required: true}}, log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, ok, err := k.get(ctx); ok || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %t, %v", ok, err)
		}
		time.Sleep(time.Second)
	})
}
