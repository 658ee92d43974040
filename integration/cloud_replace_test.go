//go:build clients

package integration

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/integration/cloudproxy"
)

// TestClientCloudReplaced reads files at random while an object of theirs is replaced again and again. A read has the
// bytes of one version, never a mixture, or it is an error: an object store has no open files, so the old version is
// gone.
func TestClientCloudReplaced(t *testing.T) {
	lasts := 4 * time.Second
	if *cloudAll {
		lasts = time.Minute
	}
	for _, test := range []struct {
		name  string
		rules cloudproxy.Rules
	}{
		{"at once", cloudproxy.Rules{}},
		{"late and out of order", cloudproxy.Rules{Delay: time.Millisecond, Jitter: 10 * time.Millisecond}},
		{"conditions are ignored", cloudproxy.Rules{Fault: cloudproxy.Always(cloudproxy.Fault{Always: true})}},
		{"with faults", cloudproxy.Rules{Fault: cloudproxy.Sometimes(2, 0.2, cloudproxy.Transient()...)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, source := newReplacing(t)
			dir := tempDir(t)
			copyObjects(t, source, dir)
			c := startCloud(t, "s3", dir)
			if test.rules.Fault != nil { // signatures include the conditions
				makePublic(t, c)
			}
			c.proxy.Set(test.rules)
			r.cube = filepath.Join(dir, "color/1/z0/y0/x0.wkw")
			r.put = func(name string, b []byte) (err error) {
				c.proxy.Replace(func() { err = putObject(name, b) })
				return err
			}
			interval := 20 * time.Millisecond
			s := c.mount(t, c.url)
			stop := make(chan struct{})
			var writer, readers sync.WaitGroup
			writer.Go(func() { r.replace(t, interval, stop) })
			for i := range 4 {
				readers.Go(func() {
					r.readObjects(t, filepath.Join(s.dir, "color/1"), uint64(i), lasts, uint32(5*time.Second/interval))
				})
			}
			readers.Wait()
			close(stop)
			writer.Wait()
			// Nothing changes any more: soon every read succeeds.
			last := r.model
			last.seed = r.published.Load()
			eventually(t, "the last version is read", func() bool {
				got, err := os.ReadFile(filepath.Join(s.dir, "color/1/z0/y0/x0.raw"))
				return err == nil && bytes.Equal(got, last.flat())
			})
		})
	}
}

// readObjects reads files at random for a while. A read may fail, but most may not.
func (r *replacing) readObjects(t *testing.T, dir string, seed uint64, lasts time.Duration, cached uint32) {
	random := rand.New(rand.NewPCG(seed, 3))
	files := r.files()
	reads, failures := 0, 0
	for end := time.Now().Add(lasts); time.Now().Before(end); reads++ {
		f := files[random.IntN(len(files))]
		f.joined = true // every file may fail
		failed, err := r.read(dir, f, cached)
		switch {
		case failed, errors.Is(err, syscall.ESTALE):
			failures++
		case err != nil:
			t.Errorf("%s: %v", f.name, err)
			return
		}
	}
	if t.Logf("%d of %d reads failed", failures, reads); failures*2 > reads {
		t.Error("most reads failed")
	}
}
