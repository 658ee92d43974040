//go:build clients

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/integration/cloudproxy"
)

// cloudLayer is the layer of the tests of faults. Its cubes are small, so that every server has them at once.
var cloudLayer = sparse

// objects writes a dataset into a new directory, as objects. Its metadata names the mag: not every server can list.
func objects(t *testing.T, l layer) (dir string) {
	t.Helper()
	dir = tempDir(t)
	source := l.write(t)
	l.writeHeader(t, filepath.Join(source, "color/1"))
	properties := filepath.Join(source, "datasource-properties.json")
	b, err := os.ReadFile(properties)
	if err != nil {
		t.Fatal(err)
	}
	mags := fmt.Appendf(nil,
		`"dataFormat":"wkw","wkwResolutions":[{"resolution":[1,1,1],"cubeLength":%d}],"boundingBox"`, l.side())
	writeFile(t, properties, bytes.Replace(b, []byte(`"boundingBox"`), mags, 1))
	copyObjects(t, source, dir)
	return dir
}

// TestClientCloudFaults reads a volume again and again while one in five requests fails. No byte is wrong, and no error
// reaches a reader: the program repeats requests.
func TestClientCloudFaults(t *testing.T) {
	want := cloudLayer.box(cloudLayer.min, cloudLayer.max())
	for _, name := range cloudNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCloud(t, name, objects(t, cloudLayer))
			c.proxy.Set(cloudproxy.Rules{Jitter: 5 * time.Millisecond,
				Fault: cloudproxy.Sometimes(1, 0.2, cloudproxy.Transient()...)})
			failed := 0
			for range 3 {
				s := c.mount(t, c.url)
				got, err := os.ReadFile(filepath.Join(s.dir, "color/1/volume.raw"))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes, %v; right: %v", len(got), err, bytes.Equal(got, want))
				}
				s.stop(t)
			}
			for _, r := range c.proxy.Requests() {
				if r.Status == 0 || r.Status >= 429 {
					failed++
				}
			}
			if failed < 5 {
				t.Errorf("%d requests failed, want some", failed)
			}
		})
	}
}

// TestClientCloudLies reads from servers whose answers are wrong in other ways. Each read gives the right bytes or an
// I/O error, soon.
func TestClientCloudLies(t *testing.T) {
	t.Parallel()
	want := cloudLayer.box(cloudLayer.min, cloudLayer.max())
	c := startCloud(t, "https", objects(t, cloudLayer))
	for _, test := range []struct {
		name  string
		fault cloudproxy.Fault
		ok    bool
	}{
		{"short", cloudproxy.Fault{Short: true}, false},
		{"shifted", cloudproxy.Fault{Shift: true}, false},
		{"larger", cloudproxy.Fault{Size: true}, false},
		{"cut", cloudproxy.Fault{Cut: true}, false},
		{"hangs", cloudproxy.Fault{Hang: true}, false},
		{"stalls", cloudproxy.Fault{HangBody: true}, false},
		{"whole", cloudproxy.Fault{Whole: true}, true}, // small files are read whole
		{"404", cloudproxy.Fault{Status: http.StatusNotFound}, false},
		{"403", cloudproxy.Fault{Status: http.StatusForbidden}, false},
		{"401", cloudproxy.Fault{Status: http.StatusUnauthorized}, false},
		{"416", cloudproxy.Fault{Status: http.StatusRequestedRangeNotSatisfiable}, false},
		{"503", cloudproxy.Fault{Status: http.StatusServiceUnavailable}, false},
		{"redirect", cloudproxy.Fault{Status: http.StatusFound,
			Header: http.Header{"Location": {"http://127.0.0.1:1/x"}}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.proxy.Set(cloudproxy.Rules{})
			log := filepath.Join(tempDir(t), "log")
			s := c.mount(t, c.url, "--timeout", "1s", "--log-file", log)
			name := filepath.Join(s.dir, "color/1/volume.raw")
			// On a busy machine, to connect may take longer than the timeout.
			eventually(t, "the volume is found", func() bool {
				_, err := os.Stat(name)
				return err == nil
			})
			c.proxy.Set(cloudproxy.Rules{Fault: func(r *http.Request) cloudproxy.Fault {
				if r.Header.Get("Range") == "" && r.Method == http.MethodGet {
					return cloudproxy.Fault{} // a listing
				}
				return test.fault
			}})
			start := time.Now()
			got, err := os.ReadFile(name)
			text, _ := os.ReadFile(log) // shown if the test fails
			switch {
			case err == nil && !bytes.Equal(got, want):
				t.Errorf("the bytes are wrong\n%s", text)
			case test.ok != (err == nil), err != nil && !errors.Is(err, syscall.EIO) &&
				!errors.Is(err, syscall.EACCES) && !errors.Is(err, syscall.ESTALE):
				t.Errorf("got %v, want success: %v\n%s", err, test.ok, text)
			case time.Since(start) > deadline:
				t.Errorf("the read took %v\n%s", time.Since(start), text)
			}
			// The server is well again: so are new reads, soon.
			c.proxy.Set(cloudproxy.Rules{})
			eventually(t, "the volume is read after the fault", func() bool {
				got, err := os.ReadFile(name)
				if err == nil && !bytes.Equal(got, want) {
					t.Error("after the fault: the bytes are wrong")
				}
				return err == nil
			})
			s.stop(t)
		})
	}
}

// TestClientCloudNetwork checks that reads fail after the timeout while there is no network, and that everything goes
// on when it is back, with the same mount and the same open file.
func TestClientCloudNetwork(t *testing.T) {
	want := cloudLayer.box(cloudLayer.min, cloudLayer.max())
	for _, name := range cloudNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCloud(t, name, objects(t, cloudLayer))
			s := c.mount(t, c.url, "--timeout", "1s", "--cache-size", "1MiB")
			volume := filepath.Join(s.dir, "color/1/volume.raw")
			f, err := os.Open(volume)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			c.proxy.Down()
			got := make([]byte, len(want))
			if _, err := f.ReadAt(got, 0); !errors.Is(err, syscall.EIO) {
				t.Errorf("without a network: %v, want an I/O error", err)
			}
			if err := c.proxy.Up(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the open file is read after the network is back", func() bool {
				_, err := f.ReadAt(got, 0)
				return err == nil
			})
			if !bytes.Equal(got, want) {
				t.Error("the open file, after the network is back: the bytes are wrong")
			}
			if got, err := os.ReadFile(volume); err != nil || !bytes.Equal(got, want) {
				t.Errorf("after the network is back: %v", err)
			}
		})
	}
}

// TestClientCloudShortBreak checks that a reader gets the right bytes, and no error, if the network is away for less
// than the timeout.
func TestClientCloudShortBreak(t *testing.T) {
	t.Parallel()
	want := cloudLayer.box(cloudLayer.min, cloudLayer.max())
	c := startCloud(t, "s3", objects(t, cloudLayer))
	s := c.mount(t, c.url, "--timeout", "30s")
	f, err := os.Open(filepath.Join(s.dir, "color/1/volume.raw"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() }) // before the mount ends
	c.proxy.Down()
	time.AfterFunc(300*time.Millisecond, func() {
		if err := c.proxy.Up(); err != nil {
			t.Error(err)
		}
	})
	got := make([]byte, len(want))
	if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the network was away for 300 ms: %v", err)
	}
}

// TestClientCloudKill checks that a reader of a server that does not answer can be killed at once, and that the mount
// can be unmounted.
func TestClientCloudKill(t *testing.T) {
	t.Parallel()
	c := startCloud(t, "s3", objects(t, cloudLayer))
	s := c.mount(t, c.url)
	volume := filepath.Join(s.dir, "color/1/volume.raw")
	if _, err := os.Stat(volume); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Bool
	c.proxy.Set(cloudproxy.Rules{Fault: func(*http.Request) cloudproxy.Fault {
		asked.Store(true)
		return cloudproxy.Fault{Hang: true}
	}})
	ctx, cancel := context.WithCancel(t.Context())
	reader := exec.CommandContext(ctx, "cat", volume) // a canceled context kills it
	reader.Stdout = io.Discard
	if err := reader.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server is asked", asked.Load)
	start := time.Now()
	cancel()
	_ = reader.Wait() // it was killed
	if took := time.Since(start); took > deadline {
		t.Errorf("the reader ended %v after it was killed", took)
	}
	c.run(t, "umount", s.dir)
	s.wantExit(t, 0)
}

// TestClientCloudErrors checks what commands print if a source cannot be reached or may not be read: the URL, the
// status, the server's number of the request, and what to do; and never a secret.
func TestClientCloudErrors(t *testing.T) {
	dir := objects(t, cloudLayer)
	s3, gs, web := startCloud(t, "s3", dir), startCloud(t, "gs", dir), startCloud(t, "https", dir)
	expired := startExpired(t)
	closed := freeAddress(t)
	for _, test := range []struct {
		name   string
		c      *cloud
		source string
		env    []string
		rules  cloudproxy.Rules
		want   []string // texts of stderr
	}{
		{"wrong secret", s3, "s3://data", []string{"AWS_SECRET_ACCESS_KEY=another-secret"}, cloudproxy.Rules{},
			[]string{"/data/", "403", "SignatureDoesNotMatch", "AWS_"}},
		{"unknown key", s3, "s3://data", []string{"AWS_ACCESS_KEY_ID=AKIANOBODY"}, cloudproxy.Rules{},
			[]string{"/data/", "403", "InvalidAccessKeyId"}},
		{"not public", s3, "s3://data", []string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY="}, cloudproxy.Rules{},
			[]string{"/data/", "403", "AccessDenied"}},
		{"no bucket", s3, "s3://another", nil, cloudproxy.Rules{}, []string{"/another/", "404", "NoSuchBucket",
			"--endpoint"}},
		{"no dataset", s3, "s3://data/nothing", nil, cloudproxy.Rules{}, []string{"s3://data/nothing"}},
		{"busy", s3, "s3://data", nil, cloudproxy.Rules{Fault: cloudproxy.Always(cloudproxy.Transient()[2])},
			[]string{"/data/", "503", "SlowDown", "4442587FB7D0A2F9"}},
		{"no bucket", gs, "gs://another", nil, cloudproxy.Rules{}, []string{"/another/", "404"}},
		{"forbidden", gs, "gs://data", nil, cloudproxy.Rules{Fault: cloudproxy.Always(cloudproxy.Fault{Status: 403})},
			[]string{"/data/", "403"}},
		{"no page", web, web.url + "/nothing", nil, cloudproxy.Rules{}, []string{web.url + "/nothing"}},
		{"not trusted", web, web.url, []string{"SSL_CERT_FILE=/dev/null"}, cloudproxy.Rules{},
			[]string{web.url, "certificate", "SSL_CERT_FILE"}},
		{"expired", expired, expired.url, nil, cloudproxy.Rules{}, []string{expired.url, "expired"}},
		{"no server", web, "https://" + closed, nil, cloudproxy.Rules{}, []string{"https://" + closed, "refused"}},
		{"no host", web, "https://wkwfs.invalid", nil, cloudproxy.Rules{}, []string{"https://wkwfs.invalid"}},
		{"password in the URL", web, "https://user:" + cloudSecret + "@" + closed + "/x?sig=" + cloudSecret, nil,
			cloudproxy.Rules{}, []string{"https://" + closed + "/x"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.c.proxy.Set(test.rules)
			defer test.c.proxy.Set(cloudproxy.Rules{})
			cmd := test.c.command("info", "--timeout", "2s", test.source)
			cmd.Env = append(cmd.Env, test.env...)
			start := time.Now()
			r := runCommand(t, cmd)
			if r.code != 1 || r.stdout != "" {
				t.Errorf("exit code %d, printed %q", r.code, r.stdout)
			}
			for _, text := range test.want {
				if !strings.Contains(r.stderr, text) {
					t.Errorf("stderr lacks %q:\n%s", text, r.stderr)
				}
			}
			if strings.Contains(r.stderr, cloudSecret) || strings.Contains(r.stderr, "another-secret") ||
				strings.Contains(r.stderr, "StringToSign") {
				t.Errorf("stderr has a secret:\n%s", r.stderr)
			}
			if took := time.Since(start); took > deadline {
				t.Errorf("the error took %v", took)
			}
			t.Log(r.stderr)
		})
	}
}

// startExpired starts a server whose certificate has expired.
func startExpired(t *testing.T) *cloud {
	t.Helper()
	file, key := certificate(t, time.Now().Add(-time.Hour))
	c := &cloud{name: "https", proxy: startProxy(t, "https://"+freeAddress(t), loadCertificate(t, file, key))}
	c.url, c.env = c.proxy.URL(), append(withoutCredentials(), "SSL_CERT_FILE="+file)
	return c
}
