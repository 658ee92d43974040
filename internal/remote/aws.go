package remote

import (
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/ini.v1"

	"github.com/wkwfs/wkwfs/internal/hint"
)

// awsConfig is where AWS' tools find a bucket.
type awsConfig struct {
	endpoint *url.URL // nil: AWS
	region   string
	style    string // addressing_style: path, virtual or auto
	profile  string // "": the default
}

// loadAWS returns the configuration of AWS' tools: the options, the environment, the profile in ~/.aws/config.
func loadAWS(o Options) (c awsConfig, err error) {
	c.profile = os.Getenv("AWS_PROFILE")
	file, err := awsFile(c.profile)
	if err != nil {
		return c, err
	}
	c.region = cmp.Or(o.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), file["region"], "us-east-1")
	if !isRegion(c.region) {
		return c, hint.Usagef("write it like eu-central-1", "%q is not a region", c.region)
	}
	c.style = cmp.Or(file["addressing_style"], "auto")
	from := []struct{ name, value string }{
		{"--endpoint", o.Endpoint}, {"AWS_ENDPOINT_URL_S3", os.Getenv("AWS_ENDPOINT_URL_S3")}, {"AWS_ENDPOINT_URL", os.Getenv("AWS_ENDPOINT_URL")},
		{"endpoint_url of the profile", file["endpoint_url"]},
	}
	for _, e := range from {
		if e.value == "" {
			continue
		}
		c.endpoint, err = url.Parse(e.value)
		if err != nil || c.endpoint.Host == "" || c.endpoint.Scheme != "http" && c.endpoint.Scheme != "https" {
			return c, hint.Usagef("write it like https://minio.example.org:9000", "%s: %q is not the URL of a server", e.name, Display(e.value))
		}
		return c, nil
	}
	return c, nil
}

// awsFile returns the settings of a profile in AWS' configuration file that matter here. Settings of s3 are nested there.
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
	for _, key := range []string{"region", "endpoint_url"} {
		settings[key] = section.Key(key).String()
	}
	for _, line := range section.Key("s3").NestedValues() {
		if key, value, ok := strings.Cut(line, "="); ok {
			settings[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return settings, nil
}

// place returns where a bucket is. A server of one's own has seldom a name for each bucket. A certificate of AWS has no names for
// buckets with dots.
func (c awsConfig) place(bucket string) *place {
	virtual := c.endpoint == nil && !strings.Contains(bucket, ".") && strings.ToLower(bucket) == bucket && !strings.Contains(bucket, "_")
	switch c.style {
	case "path":
		virtual = false
	case "virtual":
		virtual = true
	}
	return &place{c.endpoint, c.region, virtual}
}
