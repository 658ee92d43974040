package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
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

// startS3 starts a server of the files below a directory. Answers are late. All servers of a run have the same address, which is
// a part of the keys of a disk cache.
func (b *bench) startS3(ctx context.Context, dir string, late time.Duration) (_ *s3Server, err error) {
	if b.s3Address == "" {
		if b.s3Address, err = freeAddress(); err != nil {
			return nil, err
		}
	}
	s := &s3Server{}
	if s.state, err = tempDir(); err != nil {
		return nil, err
	}
	address, err := s.startGateway(dir)
	if err == nil {
		err = awaitAddress(ctx, address)
	}
	if err == nil {
		s.proxy, err = cloudproxy.StartAt(b.s3Address, "http://"+address, nil)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.proxy.Set(cloudproxy.Rules{Delay: late})
	s.url = s.proxy.URL()
	return s, nil
}

// startGateway starts versitygw and returns its address.
func (s *s3Server) startGateway(dir string) (address string, err error) {
	program, err := gatewayPath()
	if err != nil {
		return "", err
	}
	root, users := filepath.Join(s.state, "root"), filepath.Join(s.state, "users")
	err = errors.Join(setVersions(dir), os.Mkdir(root, 0o755), os.Mkdir(users, 0o755), os.Symlink(dir, filepath.Join(root, bucket)))
	if err != nil {
		return "", err
	}
	// versitygw keeps the policy of a bucket as an attribute of its directory.
	if err := unix.Setxattr(dir, "user.policy", []byte(publicRead), 0); err != nil {
		return "", fmt.Errorf("%s: make the bucket public: %w", dir, err)
	}
	if address, err = freeAddress(); err != nil {
		return "", err
	}
	gateway := command(context.Background(), program, "--quiet", "--keep-alive", "--port", address, "--access", "nobody",
		"--secret", "nothing", "--iam-dir", users, "posix", "--bucketlinks", root)
	if err := gateway.Start(); err != nil {
		return "", err
	}
	s.gateway = gateway
	return address, nil
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

// rangesName is the contender that reads a file from S3 by 64 requests at a time, without delay.
const rangesName = "64 range GETs, not late"

// ranges returns the bandwidth of the S3 server: R is stored with as many bytes as its voxels have, so both are the same.
func (b *bench) ranges(d *dataset) contender {
	return contender{Name: rangesName, Absent: noGateway(), stored: []string{cubeOf(d.mag)}, do: func(ctx context.Context, _ reading) (t turn, err error) {
		s, err := b.startS3(ctx, d.mag, 0)
		if err != nil {
			return t, err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		info, err := os.Stat(cubeOf(d.mag))
		if err != nil {
			return t, err
		}
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
		defer client.CloseIdleConnections()
		const piece = 1 << 20
		return timed(info.Size(), func() error {
			group, ctx := errgroup.WithContext(ctx)
			group.SetLimit(64)
			for off := int64(0); off < info.Size(); off += piece {
				group.Go(func() error { return s.getRange(ctx, client, cubeName, off, min(off+piece, info.Size())) })
			}
			return group.Wait()
		})
	}}
}

// getRange reads a range of an object.
func (s *s3Server) getRange(ctx context.Context, client *http.Client, key string, off, end int64) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/"+bucket+"/"+key, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, end-1))
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusPartialContent {
		return fmt.Errorf("%s: status %s", key, response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
