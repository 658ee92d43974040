package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
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
	gateway *exec.Cmd
	proxy   *cloudproxy.Proxy
	state   string // directory of the gateway
}

// bucket is the name of the bucket.
const bucket = "data"

// publicRead lets everybody read and list the bucket.
const publicRead = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*",` +
	`"Action":["s3:GetObject","s3:ListBucket"],"Resource":["arn:aws:s3:::data/*","arn:aws:s3:::data"]}]}`

// gatewayPath is where integration/cloud/install.sh puts versitygw.
func gatewayPath() (string, error) {
	if path, err := exec.LookPath("versitygw"); err == nil {
		return path, nil
	}
	return exec.LookPath("bin/cloud/versitygw")
}

// s3 returns the server of the directory of the data. The first call in a run starts it, so all mounts see the same
// address, which is a part of the keys of a disk cache.
func (b *bench) s3(ctx context.Context) (*s3Server, error) {
	s := &b.s3Server
	if s.proxy != nil {
		return s, nil
	}
	address, err := s.startGateway(b.dir)
	if err == nil {
		err = await(ctx, nil, func() (bool, error) {
			conn, err := net.Dial("tcp", address)
			return err == nil && conn.Close() == nil, nil
		})
	}
	if err == nil {
		s.proxy, err = cloudproxy.Start("http://"+address, nil)
	}
	return s, err
}

// startGateway starts versitygw and returns its address.
func (s *s3Server) startGateway(dir string) (address string, err error) {
	program, err := gatewayPath()
	if err != nil {
		return "", err
	}
	if s.state, err = tempDir(); err != nil {
		return "", err
	}
	root, users := filepath.Join(s.state, "root"), filepath.Join(s.state, "users")
	if err := errors.Join(os.Mkdir(root, 0o755), os.Mkdir(users, 0o755), os.Symlink(dir, root+"/"+bucket)); err != nil {
		return "", err
	}
	// versitygw keeps the policy of a bucket as an attribute of its directory.
	if err := unix.Setxattr(dir, "user.policy", []byte(publicRead), 0); err != nil {
		return "", fmt.Errorf("%s: make the bucket public: %w", dir, err)
	}
	if address, err = freeAddress(); err != nil {
		return "", err
	}
	gateway := command(context.Background(), program, "--quiet", "--keep-alive", "--port", address, "--access",
		"nobody",
		"--secret", "nothing", "--iam-dir", users, "posix", "--bucketlinks", root)
	if err := gateway.Start(); err != nil {
		return "", err
	}
	s.gateway = gateway
	return address, nil
}

// close ends the server and the proxy, if they were started.
func (s *s3Server) close() error {
	if s.proxy != nil {
		s.proxy.Down()
	}
	if s.gateway != nil {
		_ = s.gateway.Process.Kill() // it has no state to lose
		_ = s.gateway.Wait()
	}
	return os.RemoveAll(s.state)
}

// setVersions gives an ETag to each file that has none, as an attribute: versitygw computes none for files that it did
// not write.
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

// cloudDelay is how late the S3 server of the benchmark answers.
const cloudDelay = 50 * time.Millisecond

// onS3 returns the mag from an S3 server that answers late.
func (b *bench) onS3(d *dataset, late time.Duration) source {
	return source{d.stored, func(ctx context.Context) (opened, error) {
		s, err := b.s3(ctx)
		if err != nil {
			return opened{}, err
		}
		s.proxy.Set(cloudproxy.Rules{Delay: late})
		path := "s3://" + bucket + strings.TrimPrefix(d.mag, b.dir)
		return opened{path, []string{"--anonymous", "--endpoint", s.proxy.URL()}, nothing}, setVersions(d.mag)
	}}
}

const rcloneName = "rclone of a raw object, vfs-cache full"

// rclone returns rclone with the plain file on S3.
func (b *bench) rclone(d *dataset) contender {
	c := d.plain().named(rcloneName)
	c.Absent, c.file = missing("rclone"), filepath.Base(d.flat)
	c.mount = func(ctx context.Context) (*mounted, error) {
		o, err := b.onS3(&dataset{mag: filepath.Dir(d.flat)}, cloudDelay).open(ctx)
		if err != nil {
			return nil, err
		}
		cache, err := tempDir()
		if err != nil {
			return nil, err
		}
		remote := `:s3,provider=Other,endpoint="` + b.s3Server.proxy.URL() + `",force_path_style=true:` +
			o.path[len("s3://"):]
		m, err := serve(ctx, false, func(dir string) []string {
			return []string{"env", "-u", "AWS_CA_BUNDLE", "-u", "NOTIFY_SOCKET", "rclone", "mount", "--config", "",
				"--read-only", "--vfs-cache-mode", "full", "--cache-dir", cache, remote, dir}
		})
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(cache))
		}
		m.below = func() error { return os.RemoveAll(cache) }
		return m, nil
	}
	return c
}

// onlyWithS3 returns contenders that need the S3 server.
func onlyWithS3(all ...contender) []contender {
	for i := range all {
		if _, err := gatewayPath(); err != nil && all[i].Absent == "" {
			all[i].Absent = "no versitygw"
		}
	}
	return all
}
