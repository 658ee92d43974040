package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// logins is a server that gives credentials: the metadata of a machine, the service of a container, and AWS' Security
// Token Service.
type logins struct {
	mu    sync.Mutex
	asked []string
	fails int // the status of all answers, or 0
}

func (l *logins) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm() // an empty form has no action
	l.mu.Lock()
	l.asked = append(l.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.PostForm.Get("Action")))
	fails := l.fails
	l.mu.Unlock()
	const roles = "/latest/meta-data/iam/security-credentials/"
	hasToken := r.Header.Get("X-aws-ec2-metadata-token") == "session"
	switch {
	case fails != 0:
		w.WriteHeader(fails)
	case r.Method == http.MethodPut && r.URL.Path == "/latest/api/token":
		fmt.Fprint(w, "session")
	case r.URL.Path == roles && hasToken:
		fmt.Fprint(w, "reader")
	case r.URL.Path == roles+"reader" && hasToken:
		l.give(w, "MACHINE")
	case r.URL.Path == "/container" && r.Header.Get("Authorization") == "container-token":
		l.give(w, "CONTAINER")
	case r.PostForm.Get("Action") == "AssumeRoleWithWebIdentity" && r.PostForm.Get("WebIdentityToken") == "pod-token" &&
		r.PostForm.Get("RoleArn") == "arn:pod":
		l.giveXML(w, "AssumeRoleWithWebIdentity", "POD")
	case r.PostForm.Get("Action") == "AssumeRole" && r.PostForm.Get("RoleArn") == "arn:role":
		_, by, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		by, _, _ = strings.Cut(by, "/")
		l.giveXML(w, "AssumeRole", "ROLE-BY-"+by)
	default:
		w.WriteHeader(http.StatusForbidden)
	}
}

func (l *logins) give(w http.ResponseWriter, id string) {
	fmt.Fprintf(w,
		`{"Code": "Success", "AccessKeyId": %q, "SecretAccessKey": "geheim", "Token": "token", "Expiration": %q}`,
		id, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
}

func (l *logins) giveXML(w http.ResponseWriter, action, id string) {
	fmt.Fprintf(w,
		`<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult><Credentials><AccessKeyId>%[2]s</AccessKeyId>`+
			`<SecretAccessKey>geheim</SecretAccessKey><SessionToken>token</SessionToken><Expiration>%[3]s</Expiration></Credentials></%[1]sResult></%[1]sResponse>`,
		action, id, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
}

func (l *logins) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.asked)
}

// withLogins starts a server for credentials, and sets variables. SERVER in them is its URL, DIR a directory with the
// files.
func withLogins(t *testing.T, config string, env []string) *logins {
	t.Helper()
	noAWS(t)
	l := &logins{}
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	for name, text := range map[string]string{"config": config, "pod": "pod-token", "container": "container-token"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(dir, "config"))
	t.Setenv("AWS_EC2_METADATA_DISABLED", "")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.URL+"/")
	t.Setenv("AWS_ENDPOINT_URL_STS", server.URL)
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, strings.NewReplacer("SERVER", server.URL, "DIR", dir).Replace(value))
	}
	return l
}

const (
	podEnv       = "AWS_WEB_IDENTITY_TOKEN_FILE=DIR/pod"
	podRole      = "AWS_ROLE_ARN=arn:pod"
	containerEnv = "AWS_CONTAINER_CREDENTIALS_FULL_URI=SERVER/container"
	containerKey = "AWS_CONTAINER_AUTHORIZATION_TOKEN=container-token"
	keyEnv       = "AWS_ACCESS_KEY_ID=ENV"
	secretEnv    = "AWS_SECRET_ACCESS_KEY=geheim"

	plainProfile   = "[default]\naws_access_key_id = FILE\naws_secret_access_key = geheim\n"
	machineProfile = "[profile p]\ncredential_source = Ec2InstanceMetadata\n"
)

// TestS3Roles: where credentials come from, and which servers are asked for them.
func TestS3Roles(t *testing.T) {
	for _, c := range []struct {
		name, config string
		env          []string
		o            Options
		want         string // the id of the key; "": the request has no signature
		asked        int    // questions for credentials
	}{
		{"machine", "", nil, Options{}, "MACHINE", 3},
		{"machine, server of AWS", "", nil, Options{Endpoint: "https://b.vpce-1.s3.eu-west-1.vpce.amazonaws.com"},
			"MACHINE", 3},
		{"anonymous", "", nil, Options{Anonymous: true}, "", 0},
		{"disabled", "", []string{"AWS_EC2_METADATA_DISABLED=TRUE"}, Options{}, "", 0},
		{"no signs of EC2", "", []string{"AWS_EC2_METADATA_SERVICE_ENDPOINT="}, Options{}, "", 0},
		{"other server", "", []string{podEnv, podRole, containerEnv, containerKey},
			Options{Endpoint: "https://minio.example.org"}, "", 0},
		{"server with a similar name", "", nil, Options{Endpoint: "https://amazonaws.com.example.org"}, "", 0},
		{"environment", plainProfile, []string{keyEnv, secretEnv, podEnv, containerEnv}, Options{}, "ENV", 0},
		{"half of the environment", plainProfile, []string{keyEnv}, Options{}, "FILE", 0},
		{"profile", plainProfile, []string{podEnv, containerEnv}, Options{}, "FILE", 0},
		{"pod", "", []string{podEnv, podRole, containerEnv, containerKey}, Options{}, "POD", 1},
		{"container", "", []string{containerEnv, containerKey}, Options{}, "CONTAINER", 1},
		{"container, token in a file", "", []string{containerEnv,
			"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=DIR/container"}, Options{}, "CONTAINER", 1},
		{"profile names the machine", machineProfile, []string{"AWS_PROFILE=p"},
			Options{Endpoint: "https://minio.example.org"}, "MACHINE", 3},
		{"profile with a role of the machine", machineProfile + "role_arn = arn:role\n", []string{"AWS_PROFILE=p"},
			Options{}, "ROLE-BY-MACHINE", 4},
		{"profile with a role of the container", "[default]\ncredential_source = EcsContainer\nrole_arn = arn:role\n",
			[]string{containerEnv, containerKey},
			Options{}, "ROLE-BY-CONTAINER", 2},
		{"profile with a role of another", plainProfile +
			"[profile p]\nsource_profile = default\nrole_arn = arn:role\n", []string{"AWS_PROFILE=p"}, Options{},
			"ROLE-BY-FILE", 1},
		{"profile with a token", "[default]\nrole_arn = arn:pod\nweb_identity_token_file = DIR/pod\n", nil, Options{},
			"POD", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := withLogins(t, "", c.env)
			config := os.Getenv("AWS_CONFIG_FILE")
			if err := os.WriteFile(config, []byte(strings.ReplaceAll(c.config, "DIR", filepath.Dir(config))),
				0o600); err != nil {
				t.Fatal(err)
			}
			var got http.Header
			b := open(t, "s3://b/d", c.o, func(w http.ResponseWriter, r *http.Request) {
				got = r.Header
				serve(w, r, "x")
			})
			for range 3 {
				if _, err := b.Head(t.Context(), "x"); err != nil {
					t.Fatal(err)
				}
			}
			auth := got.Get("Authorization")
			if c.want == "" && auth != "" || !strings.Contains(auth, c.want) ||
				c.want != "" && !strings.Contains(auth, "Credential="+c.want+"/") {
				t.Errorf("got %q, expected the key %q", auth, c.want)
			}
			if isRole := c.asked > 0; isRole != (got.Get("X-Amz-Security-Token") == "token") {
				t.Errorf("token %q", got.Get("X-Amz-Security-Token"))
			}
			if l.count() != c.asked {
				t.Errorf("asked %q, expected %d questions", l.asked, c.asked)
			}
			switch reader := b.(*s3).Reader(); {
			case c.asked > 0: // the next session has another key
				if !strings.HasPrefix(reader, "session of ") || strings.Contains(reader, c.want) {
					t.Errorf("the reader is %q", reader)
				}
			case c.want == "" && reader != "", c.want != "" && reader != "key "+c.want:
				t.Errorf("the reader is %q, expected the key %q", reader, c.want)
			}
		})
	}
}

// TestS3RoleRefused: a machine without a role reads public data. A container or a profile that has no credentials is an
// error without secrets.
func TestS3RoleRefused(t *testing.T) {
	for _, c := range []struct {
		name, config string
		env          []string
		status       int
		want         string
	}{
		{"machine", "", nil, 404, ""},
		{"container", "", []string{containerEnv, containerKey}, 403, "403 Forbidden"},
		{"pod", "", []string{podEnv, podRole}, 400, "credentials for s3://b/d"},
		{"profile", machineProfile, []string{"AWS_PROFILE=p"}, 404, "404 Not Found"},
		{"no profile", "", []string{"AWS_PROFILE=p"}, 404, "credentials for s3://b/d"},
		{"no container", "", []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI=http://127.0.0.1:1/geheim"}, 404,
			"connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := withLogins(t, c.config, c.env)
			l.fails = c.status
			b := open(t, "s3://b/d", Options{}, func(w http.ResponseWriter, r *http.Request) { serve(w, r, "x") })
			_, err := b.Head(t.Context(), "x")
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(hintOf(err), "--anonymous")):
				t.Errorf("got %v, expected %q", err, c.want)
			case err != nil && (strings.Contains(err.Error(), "geheim") || strings.Contains(err.Error(), "-token")):
				t.Errorf("%v has a secret", err)
			}
		})
	}
}

// TestS3RoleSettings: settings that name no source, or one that would get secrets without encryption.
func TestS3RoleSettings(t *testing.T) {
	for _, c := range []struct {
		name, config string
		env          []string
		want         string
	}{
		{"unknown source", "[default]\ncredential_source = Toaster\n", nil, `unknown source "Toaster"`},
		{"no container", "[default]\ncredential_source = EcsContainer\n", nil, "no such source"},
		{"disabled", machineProfile, []string{"AWS_PROFILE=p", "AWS_EC2_METADATA_DISABLED=true"}, "no such source"},
		{"two sources", machineProfile, []string{"AWS_PROFILE=p", podEnv},
			"AWS_WEB_IDENTITY_TOKEN_FILE names another source"},
		{"two sources, container", machineProfile, []string{"AWS_PROFILE=p", containerEnv},
			"AWS_CONTAINER_CREDENTIALS_FULL_URI names another source"},
		{"far container", "", []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI=http://example.org/x?geheim"},
			"without encryption"},
		{"no URL of a container", "", []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI=container"},
			"not the URL of a server"},
		{"no URL of the metadata", "", []string{"AWS_EC2_METADATA_SERVICE_ENDPOINT=ftp://x"},
			"not the URL of a server"},
		{"no URL of STS", "", []string{podEnv, "AWS_ENDPOINT_URL_STS=sts"}, "not the URL of a server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := withLogins(t, c.config, c.env)
			_, err := Open("s3://b/d", Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "geheim") {
				t.Errorf("got %v, expected %q", err, c.want)
			}
			if l.count() != 0 {
				t.Errorf("asked %q", l.asked)
			}
			if _, err := Open("s3://b/d", Options{Anonymous: true}); err != nil {
				t.Errorf("anonymous: %v", err)
			}
		})
	}
}

// TestIsEC2: what machines say of themselves.
func TestIsEC2(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             bool
	}{
		{"Nitro", "class/dmi/id/sys_vendor", "Amazon EC2\n", true},
		{"Xen", "class/dmi/id/bios_version", "4.11.amazon\n", true},
		{"Xen without firmware", "hypervisor/uuid", "EC2a1b2c-1234\n", true},
		{"laptop", "class/dmi/id/sys_vendor", "LENOVO\n", false},
		{"other Xen", "hypervisor/uuid", "1ec2b2c3-1234\n", false},
		{"nothing", "other", "", false},
	} {
		if got := isEC2(fstest.MapFS{c.file: {Data: []byte(c.text)}}); got != c.want {
			t.Errorf("%s: got %t", c.name, got)
		}
	}
}

// TestContainerHosts: a token goes without encryption to the services of ECS and EKS, and to this machine alone.
func TestContainerHosts(t *testing.T) {
	noAWS(t)
	refused := []string{"http://example.org/", "http://10.0.0.1/", "http://169.254.170.3/",
		"http://localhost.example.org/"}
	for _, u := range append(refused, "http://169.254.170.2/x", "http://169.254.170.23/x", "http://[fd00:ec2::23]/x",
		"http://[::1]:8/x", "http://127.0.0.9/x",
		"http://localhost/x", "https://example.org/x") {
		t.Setenv(containerURL, u)
		if from, err := container(); (err != nil) != slices.Contains(refused, u) || (err == nil) != (from != nil) {
			t.Errorf("%s: %v", u, err)
		}
	}
}

// TestLoginRedirects: servers that give credentials cannot send the secrets of a request on to another server: the
// token of a pod, which is in the body, and the key of a service account of Google.
func TestLoginRedirects(t *testing.T) {
	asked := map[string]int{}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked["other"]++ }))
	defer other.Close()
	login := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked["login"]++
		http.Redirect(w, r, other.URL+"/", http.StatusTemporaryRedirect)
	}))
	defer login.Close()
	withLogins(t, "", []string{podEnv, podRole, "AWS_ENDPOINT_URL_STS=" + login.URL})
	aws := open(t, "s3://b/d", Options{}, func(http.ResponseWriter, *http.Request) { t.Error("the store was asked") })
	file := filepath.Join(t.TempDir(), "google.json")
	text := `{"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r", "token_uri": "` +
		login.URL + `"}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	google := open(t, "gs://b/d", Options{}, func(http.ResponseWriter,
		*http.Request) {
		t.Error("the store was asked")
	})
	for i, b := range []object.Bucket{aws, google} {
		if _, err := b.Head(t.Context(), "x"); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: got %v", b.URL(), err)
		}
		if asked["login"] <= i || asked["other"] != 0 {
			t.Errorf("%s: asked %v", b.URL(), asked)
		}
	}
}
