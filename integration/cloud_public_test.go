//go:build clients

package integration

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/integration/cloudproxy"
)

// makePublic lets everybody read the S3 server's bucket, and takes the credentials out of the environment. Others may
// list if that is given.
func makePublic(t *testing.T, c *cloud, actions ...string) {
	t.Helper()
	if len(actions) == 0 {
		actions = []string{"s3:GetObject", "s3:ListBucket"}
	}
	policy := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":["` +
		strings.Join(actions, `","`) +
		`"],"Resource":["arn:aws:s3:::data/*","arn:aws:s3:::data"]}]}`
	// versitygw keeps the policy of a bucket as an attribute of its directory.
	if err := unix.Setxattr(c.dir, "user.policy", []byte(policy), 0); err != nil {
		t.Fatal(err)
	}
	c.env = append(c.env, "AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=")
}

// TestClientCloudPublic reads a bucket of S3 that everybody may read, without credentials.
func TestClientCloudPublic(t *testing.T) {
	t.Parallel()
	c := startCloud(t, "s3", objects(t, cloudLayer))
	makePublic(t, c)
	c.wantLayer(t)
	for _, r := range c.proxy.Requests() {
		if r.Signed {
			t.Errorf("a request had credentials: %+v", r)
		}
	}
}

// TestClientCloudAnonymous checks that --anonymous sends no credentials, though there are some.
func TestClientCloudAnonymous(t *testing.T) {
	t.Parallel()
	c := startCloud(t, "s3", objects(t, cloudLayer))
	env := c.env
	makePublic(t, c)
	c.env = env
	c.wantLayer(t, "--anonymous")
	for _, r := range c.proxy.Requests() {
		if r.Signed {
			t.Errorf("a request had credentials: %+v", r)
		}
	}
}

// TestClientCloudNoListing reads a bucket that nobody may list. S3 then answers 403 for absent objects: absent cubes
// read as zeros. A cube that may not be read any more is an error, not zeros.
func TestClientCloudNoListing(t *testing.T) {
	t.Parallel()
	c := startCloud(t, "s3", objects(t, cloudLayer))
	makePublic(t, c, "s3:GetObject")
	forbidden := func(r *http.Request) cloudproxy.Fault {
		_, key, _ := strings.Cut(r.URL.Path, "/data/")
		if _, err := os.Stat(filepath.Join(c.dir, key)); err != nil { // AWS does this; versitygw answers 404
			return cloudproxy.Fault{Status: http.StatusForbidden, Body: `<Error><Code>AccessDenied</Code></Error>`}
		}
		return cloudproxy.Fault{}
	}
	c.proxy.Set(cloudproxy.Rules{Fault: forbidden})
	c.wantLayer(t)
	s := c.mount(t, c.url)
	c.proxy.Set(cloudproxy.Rules{Fault: func(r *http.Request) cloudproxy.Fault {
		if strings.HasSuffix(r.URL.Path, "z0/y0/x0.wkw") {
			return cloudproxy.Fault{Status: http.StatusForbidden,
				Body: `<Error><Code>InvalidAccessKeyId</Code></Error>`}
		}
		return forbidden(r)
	}})
	if b, err := os.ReadFile(filepath.Join(s.dir, "color/1/volume.raw")); err == nil {
		t.Errorf("a cube that may not be read: got %d bytes and no error", len(b))
	}
}

// TestClientCloudNoIndex reads a web server that lists no directories, and one that lists them as JSON.
func TestClientCloudNoIndex(t *testing.T) {
	t.Parallel()
	c := startCloud(t, "https", objects(t, cloudLayer))
	url := c.url
	for _, path := range []string{"/json", "/nolist"} {
		c.url = url + path
		c.wantLayer(t)
	}
}

// wantLayer mounts the layer of the model and compares its voxels. It returns the log.
func (c *cloud) wantLayer(t *testing.T, args ...string) string {
	t.Helper()
	log := filepath.Join(tempDir(t), "log")
	s := c.mount(t, c.url, append(args, "--log-file", log)...)
	got, err := os.ReadFile(filepath.Join(s.dir, "color/1/volume.raw"))
	if want := cloudLayer.box(cloudLayer.min, cloudLayer.max()); err != nil || !bytes.Equal(got, want) {
		text, _ := os.ReadFile(log)
		t.Errorf("%s: %d bytes, error %v; want %d others\n%s", c.url, len(got), err, len(want), text)
	}
	s.stop(t)
	text, err := os.ReadFile(log)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// TestClientCloudNoVersion reads from a server that says nothing that identifies the content of an object. The log says
// so, once.
func TestClientCloudNoVersion(t *testing.T) {
	t.Parallel()
	c := startCloud(t, "https", objects(t, cloudLayer))
	c.proxy.Set(cloudproxy.Rules{Fault: cloudproxy.Always(cloudproxy.Fault{NoVersion: true})})
	if log := c.wantLayer(t); strings.Count(log, "changes of files will not be noticed") != 1 {
		t.Errorf("the log does not say once that changes are not noticed:\n%s", log)
	}
}
