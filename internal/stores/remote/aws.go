package remote

// This file and aws_*.go find the region, the endpoint and the credentials as AWS' tools do, with the providers of
// minio-go, which signs the requests and also knows credential_process and SSO. Package config of aws-sdk-go-v2 would
// do the same with less code of ours. We do not use it:
//
//   - It adds 3.4 MB to a program of 28.7 MB, 14 modules, and 6 ms of processor time to the 8 ms of each start.
//   - It does not know where the credentials go. A session of a role must reach no server but those of AWS: see
//     keySources.
//   - It asks the service of the machine wherever nothing else has credentials. A reader of public data would wait for
//     it.

import (
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/ini.v1"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// awsConfig is where AWS' tools find a bucket.
type awsConfig struct {
	endpoint *url.URL // nil: AWS
	region   string
	style    string // addressing_style: path, virtual or auto
	profile  string // "": the default

	settings map[string]string // of the profile in ~/.aws/config
}

// toAWS reports whether requests go to AWS, and not to a server of someone else.
func (c awsConfig) toAWS() bool {
	if c.endpoint == nil {
		return true
	}
	host := c.endpoint.Hostname()
	return slices.ContainsFunc(awsDomains, func(domain string) bool { return strings.HasSuffix(host, domain) })
}

// awsDomains are the domains of AWS' servers for S3, those for China and for both versions of IP included.
var awsDomains = []string{".amazonaws.com", ".amazonaws.com.cn", ".api.aws"}

// loadAWS returns the configuration of AWS' tools: the options, the environment, the profile in ~/.aws/config.
func loadAWS(o Options) (c awsConfig, err error) {
	c.profile = os.Getenv("AWS_PROFILE")
	file, err := awsFile(c.profile)
	if err != nil {
		return c, err
	}
	c.settings = file
	c.region = cmp.Or(o.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), file["region"], "us-east-1")
	if !isRegion(c.region) {
		return c, hint.Usagef("write it like eu-central-1", "%q is not a region", c.region)
	}
	c.style = cmp.Or(file["addressing_style"], "auto")
	from := []struct{ name, value string }{
		{"--endpoint", o.Endpoint}, {"AWS_ENDPOINT_URL_S3", os.Getenv("AWS_ENDPOINT_URL_S3")},
		{"AWS_ENDPOINT_URL", os.Getenv("AWS_ENDPOINT_URL")},
		{"endpoint_url of the profile", file["endpoint_url"]},
	}
	for _, e := range from {
		if e.value == "" {
			continue
		}
		c.endpoint, err = url.Parse(e.value)
		if err != nil || c.endpoint.Host == "" || c.endpoint.Scheme != "http" && c.endpoint.Scheme != "https" {
			return c, hint.Usagef("write it like https://minio.example.org:9000", "%s: %q is not the URL of a server",
				e.name, Display(e.value))
		}
		return c, nil
	}
	return c, nil
}

// profileKeys are the settings of a profile that matter here. Package credentials reads keys, and settings of single
// sign-on and of external processes, on its own.
var profileKeys = []string{
	"region", "endpoint_url", "role_arn", "role_session_name", "external_id", "credential_source", "source_profile",
	"web_identity_token_file",
}

// awsFile returns the settings of a profile in AWS' configuration file that matter here. Settings of s3 are nested
// there.
func awsFile(profile string) (map[string]string, error) {
	path := os.Getenv("AWS_CONFIG_FILE")
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, nil // no home has no file
		}
		path = filepath.Join(home, ".aws", "config")
	}
	file, err := ini.LoadSources(ini.LoadOptions{AllowNestedValues: true, SkipUnrecognizableLines: true}, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, hint.Errorf("AWS_CONFIG_FILE names another file", "%s: the AWS configuration cannot be read", path)
	}
	name := "default"
	if profile != "" && profile != "default" {
		name = "profile " + profile
	}
	section := file.Section(name)
	settings := map[string]string{}
	for _, key := range profileKeys {
		settings[key] = section.Key(key).String()
	}
	for _, line := range section.Key("s3").NestedValues() {
		if key, value, ok := strings.Cut(line, "="); ok {
			settings[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return settings, nil
}

// place returns where a bucket is. A server of one's own has seldom a name for each bucket. A certificate of AWS has no
// names for buckets with dots.
func (c awsConfig) place(bucket string) *place {
	virtual := c.endpoint == nil && !strings.Contains(bucket, ".") && strings.ToLower(bucket) == bucket &&
		!strings.Contains(bucket, "_")
	switch c.style {
	case "path":
		virtual = false
	case "virtual":
		virtual = true
	}
	return &place{c.endpoint, c.region, virtual}
}
