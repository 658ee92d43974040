package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/integration/cloudproxy"
)

// s3Server is versitygw, which shows a directory as a public bucket of S3, behind a proxy that delays answers.
type s3Server struct {
	url     string // of the proxy
	gateway *exec.Cmd
	proxy   *cloudproxy.Proxy
	state   string // directory of the gateway
}

// bucket is the name of the bucket.
const bucket = "data"

// publicRead lets everybody read and list the bucket.
const publicRead = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":["s3:GetObject","s3:ListBucket"],` +
	`"Resource":["arn:aws:s3:::data/*","arn:aws:s3:::data"]}]}`

// gatewayPath is where integration/cloud/install.sh puts versitygw.
func gatewayPath() (string, error) {
	if path, err := exec.LookPath("versitygw"); err == nil {
		return path, nil
	}
	return exec.LookPath("bin/cloud/versitygw")
}

// noGateway returns why there is no S3 server, or "".
func noGateway() string {
	if _, err := gatewayPath(); err != nil {
		return "no versitygw"
	}
	return ""
}

// anyPort is the address of a proxy that nothing depends on.
const anyPort = "127.0.0.1:0"

// startS3 starts a server of the files below a directory, whose proxy has an address. Answers are late.
func startS3(ctx context.Context, dir string, late time.Duration, proxy string) (_ *s3Server, err error) {
	program, err := gatewayPath()
	if err != nil {
		return nil, err
	}
	if err := setVersions(dir); err != nil {
		return nil, err
	}
	s := &s3Server{}
	if s.state, err = os.MkdirTemp("", "wkwfs-bench-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	root, users := filepath.Join(s.state, "root"), filepath.Join(s.state, "users")
	if err := errors.Join(os.Mkdir(root, 0o755), os.Mkdir(users, 0o755), os.Symlink(dir, filepath.Join(root, bucket))); err != nil {
		return nil, err
	}
	// versitygw keeps the policy of a bucket as an attribute of its directory.
	if err := unix.Setxattr(dir, "user.policy", []byte(publicRead), 0); err != nil {
		return nil, fmt.Errorf("%s: make the bucket public: %w", dir, err)
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s.gateway = command(context.Background(), program, "--quiet", "--keep-alive", "--port", address, "--access", "nobody", "--secret", "nothing",
		"--iam-dir", users, "posix", "--bucketlinks", root)
	if err := s.gateway.Start(); err != nil {
		s.gateway = nil
		return nil, err
	}
	if err := awaitAddress(ctx, address); err != nil {
		return nil, err
	}
	if s.proxy, err = cloudproxy.StartAt(proxy, "http://"+address, nil); err != nil {
		return nil, err
	}
	s.proxy.Set(cloudproxy.Rules{Delay: late})
	s.url = s.proxy.URL()
	return s, nil
}

// close ends the server and the proxy.
func (s *s3Server) close() error {
	if s.proxy != nil {
		s.proxy.Down()
	}
	if s.gateway != nil {
		_ = s.gateway.Process.Signal(unix.SIGINT)
		kill := time.AfterFunc(timeout, func() { _ = s.gateway.Process.Kill() })
		_ = s.gateway.Wait() // a signal ended it
		kill.Stop()
	}
	return os.RemoveAll(s.state)
}

// setVersions gives an ETag to each file that has none, as an attribute: versitygw computes none for files that it did not write.
func setVersions(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if _, err := unix.Getxattr(path, "user.etag", nil); err == nil {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return unix.Setxattr(path, "user.etag", fmt.Appendf(nil, `"%x-%x"`, info.ModTime().UnixNano(), info.Size()), 0)
	})
}

// freeAddress returns a TCP address that is not in use.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// awaitAddress waits until a server accepts connections.
func awaitAddress(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		if conn, err := net.Dial("tcp", address); err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the server at %s: %w", address, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// fromS3 returns a peer whose source is a bucket with the files of a directory. source returns the command that mounts it on dir.
func fromS3(name, file, bucketDir string, late time.Duration, notifies bool, program func(s *s3Server, dir string) []string) peer {
	return s3Options{proxy: anyPort}.peer(name, file, bucketDir, late, notifies, program)
}

// s3Options are what few peers need.
type s3Options struct {
	proxy string                               // its address
	ended func(all []cloudproxy.Request) error // is called with the requests of a mount after it; nil: not
}

// peer is fromS3 with options.
func (o s3Options) peer(name, file, bucketDir string, late time.Duration, notifies bool, program func(s *s3Server, dir string) []string) peer {
	return peer{name: name, file: file, absent: noGateway(), mount: func(ctx context.Context) (*mounted, error) {
		s, err := startS3(ctx, bucketDir, late, o.proxy)
		if err != nil {
			return nil, err
		}
		m, err := serve(ctx, notifies, func(dir string) []string { return program(s, dir) })
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		m.stop = func() error {
			all := s.proxy.Requests()
			if err := s.close(); err != nil || o.ended == nil {
				return err
			}
			return o.ended(all)
		}
		return m, nil
	}}
}

// wkwfsS3 returns wkwfs with a mag on S3.
func (b *bench) wkwfsS3(m mag, file string, late time.Duration) peer {
	return s3Options{proxy: anyPort}.wkwfs(b, m, file, late)
}

// wkwfs is wkwfsS3 with options.
func (o s3Options) wkwfs(b *bench, m mag, file string, late time.Duration, flags ...string) peer {
	remote := m
	remote.dir = "s3://" + bucket
	p := o.peer("wkwfs", file, m.dir, late, true, func(s *s3Server, dir string) []string {
		return b.mountCommand(b.program, remote, dir, b.cache, append(flags, "--foreground", "--anonymous", "--endpoint", s.url)...)
	})
	p.stored, p.budget = m.files(), b.cache
	return p
}

// rclone returns rclone with the flat file on S3.
func (b *bench) rclone(flat string, late time.Duration) peer {
	p := fromS3(rcloneName, filepath.Base(flat), filepath.Dir(flat), late, false, func(s *s3Server, dir string) []string {
		remote := fmt.Sprintf(`:s3,provider=Other,endpoint="%s",force_path_style=true:%s`, s.url, bucket)
		return []string{"env", "-u", "AWS_CA_BUNDLE", "-u", "NOTIFY_SOCKET", "rclone", "mount", "--config", "", "--read-only", "--vfs-cache-mode", "full", "--cache-dir", filepath.Join(s.state, "cache"), remote, dir}
	})
	if p.stored = []string{flat}; p.absent == "" {
		p.absent = missing("rclone")
	}
	return p
}

// s3fs returns s3fs with the flat file on S3.
func (b *bench) s3fs(flat string, late time.Duration) peer {
	p := fromS3(s3fsName, filepath.Base(flat), filepath.Dir(flat), late, false, func(s *s3Server, dir string) []string {
		return []string{"s3fs", bucket, dir, "-f", "-o", strings.Join([]string{"url=" + s.url, "use_path_request_style", "public_bucket=1", "ro"}, ",")}
	})
	if p.stored = []string{flat}; p.absent == "" {
		p.absent = missing("s3fs")
	}
	return p
}

// getRange reads a range of an object. It returns the number of bytes.
func (s *s3Server) getRange(ctx context.Context, client *http.Client, key string, off, end int64, buffer []byte) (int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/"+bucket+"/"+key, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, end-1))
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusPartialContent {
		return 0, fmt.Errorf("%s: status %s", key, response.Status)
	}
	return discard(response.Body, buffer)
}
