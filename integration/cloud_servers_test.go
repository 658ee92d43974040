//go:build clients

package integration

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	bigint "math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/integration/cloudproxy"
)

// The credentials of the S3 server. The secret is a word that occurs nowhere else: tests look for it in logs.
const (
	cloudKey    = "AKIAWKWFSTEST"
	cloudSecret = "nobodymayeverreadthis"
)

// cloud is a server of objects that a test started, behind a proxy.
type cloud struct {
	name  string
	url   string // SOURCE of the data that it has, without a trailing slash
	env   []string
	dir   string // what the server shows; for gs: what it showed when it started
	proxy *cloudproxy.Proxy
}

// startCloud starts one of the servers "s3", "gs" and "https" for the objects below a directory.
func startCloud(t testing.TB, name, dir string) *cloud {
	t.Helper()
	switch name {
	case "s3":
		return startS3(t, dir)
	case "gs":
		return startGCS(t, dir)
	default:
		return startNginx(t, dir)
	}
}

// startS3 starts versitygw. The directory is its one bucket, which is called data and is not public.
func startS3(t testing.TB, dir string) *cloud {
	t.Helper()
	root := tempDir(t)
	if err := os.Symlink(dir, filepath.Join(root, "data")); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	startCloudServer(t, address, cloudProgram(t, "versitygw"), "--quiet", "--keep-alive", "--port", address, "--access",
		cloudKey, "--secret", cloudSecret,
		"--iam-dir", tempDir(t), "posix", "--bucketlinks", root)
	c := &cloud{name: "s3", url: "s3://data", dir: dir, proxy: startProxy(t, "http://"+address, nil)}
	c.env = append(withoutCredentials(), "AWS_ACCESS_KEY_ID="+cloudKey, "AWS_SECRET_ACCESS_KEY="+cloudSecret,
		"AWS_REGION=us-east-1", "AWS_ENDPOINT_URL_S3="+c.proxy.URL())
	return c
}

// withoutCredentials returns the environment without what names credentials of this machine, and with none to be found.
func withoutCredentials() []string {
	return append(os.Environ(), "HOME=/nonexistent", "AWS_EC2_METADATA_DISABLED=true", "AWS_ACCESS_KEY_ID=",
		"AWS_SECRET_ACCESS_KEY=", "AWS_SESSION_TOKEN=", "AWS_PROFILE=")
}

// startGCS starts fake-gcs-server. It reads the objects below the directory into its one bucket, which is called data.
func startGCS(t testing.TB, dir string) *cloud {
	t.Helper()
	root := tempDir(t)
	copyObjects(t, dir, filepath.Join(root, "data"))
	address := freeAddress(t)
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	startCloudServer(t, address, cloudProgram(t, "fake-gcs-server"), "-scheme", "http", "-host", host, "-port", port,
		"-backend", "memory", "-data", root)
	c := &cloud{name: "gs", url: "gs://data", dir: dir, proxy: startProxy(t, "http://"+address, nil)}
	c.env = append(withoutCredentials(), "STORAGE_EMULATOR_HOST="+c.proxy.URL())
	return c
}

// nginxConfig is the configuration of a server of one directory. Below /nolist it has no listing, and below /json the
// listing is JSON.
const nginxConfig = `daemon off; worker_processes 1; %spid %[2]s/pid; error_log %[2]s/error.log;
events { worker_connections 1024; }
http {
	access_log off; default_type application/octet-stream; sendfile on; keepalive_requests 1000000;
	client_body_temp_path %[2]s/body; proxy_temp_path %[2]s/proxy; fastcgi_temp_path %[2]s/fastcgi; uwsgi_temp_path %[2]s/uwsgi; scgi_temp_path %[2]s/scgi;
	server {
		listen %[3]s ssl; ssl_certificate %[4]s; ssl_certificate_key %[5]s; root %[6]s;
		location / { autoindex on; }
		location /nolist/ { alias %[6]s/; }
		location /json/ { alias %[6]s/; autoindex on; autoindex_format json; }
	}
}
`

// startNginx starts nginx with TLS. The proxy in front of it has the same certificate, which the environment names as
// trusted.
func startNginx(t testing.TB, dir string) *cloud {
	t.Helper()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		nginx = "/usr/sbin/nginx"
	}
	state, address := tempDir(t), freeAddress(t)
	certificate, key := certificate(t, time.Now().Add(time.Hour))
	user := ""
	if os.Geteuid() == 0 {
		user = "user root; "
	}
	config := writeFile(t, filepath.Join(state, "nginx.conf"), fmt.Appendf(nil, nginxConfig, user, state, address,
		certificate, key, dir))
	startCloudServer(t, address, nginx, "-c", config, "-p", state, "-e", filepath.Join(state, "error.log"))
	c := &cloud{name: "https", dir: dir, proxy: startProxy(t, "https://"+address, loadCertificate(t, certificate, key))}
	c.url = c.proxy.URL()
	c.env = append(withoutCredentials(), "SSL_CERT_FILE="+certificate)
	return c
}

// certificate writes a certificate for 127.0.0.1 that signs itself, and its key.
func certificate(t testing.TB, end time.Time) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: bigint.NewInt(1), NotBefore: end.Add(-48 * time.Hour), NotAfter: end,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:        true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := tempDir(t)
	return writeFile(t, filepath.Join(dir, "cert.pem"),
			pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})),
		writeFile(t, filepath.Join(dir, "key.pem"),
			pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}))
}

// loadCertificate returns the configuration of a server with a certificate.
func loadCertificate(t testing.TB, certificate, key string) *tls.Config {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}}
}

// cloudProgram returns the path of a server that integration/cloud/install.sh built.
func cloudProgram(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../bin/cloud", name))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		skipUnlessRequired(t, fmt.Sprintf("%v: run integration/cloud/install.sh", err))
	}
	return path
}

// startCloudServer runs a server until the test ends, and waits until it accepts connections.
func startCloudServer(t testing.TB, address, path string, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(tempDir(t), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		kill := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // servers end with many codes
		kill.Stop()
		log.Close()
		if b, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s:\n%.2000s", filepath.Base(path), b)
		}
	})
	eventually(t, path+" listens at "+address, func() bool {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
}

// startProxy starts a proxy in front of a server, until the test ends.
func startProxy(t testing.TB, server string, config *tls.Config) *cloudproxy.Proxy {
	t.Helper()
	p, err := cloudproxy.Start(server, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Down)
	return p
}
