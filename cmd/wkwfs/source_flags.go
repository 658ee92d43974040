package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/link"
	"github.com/wkwfs/wkwfs/internal/paths"
	"github.com/wkwfs/wkwfs/internal/remote"
	"github.com/wkwfs/wkwfs/internal/settings"
	"github.com/wkwfs/wkwfs/internal/shown"
	"github.com/wkwfs/wkwfs/internal/store"
)

// sourceHelp says in help texts what a SOURCE is.
const sourceHelp = `SOURCE is a WEBKNOSSOS dataset, a layer, a mag, a single .wkw file, an unpacked annotation
download, a Neuroglancer Precomputed volume, or a Zarr or N5 array or group, also in a zip
archive of uncompressed files (.ozx, .zip). It is a path, or the URL of an object
store or a web server: s3://BUCKET/PATH, gs://BUCKET/PATH, https://HOST/PATH.`

// sourceFlags are the flags of all commands that read a SOURCE.
type sourceFlags struct {
	followLinks bool
	ioDepth     settings.Depth

	// Of sources with a URL.
	timeout          settings.Timeout
	anonymous        bool
	endpoint, region string
}

func (s *sourceFlags) register(flags *pflag.FlagSet) {
	s.ioDepth, s.timeout = store.DefaultDepth, settings.Timeout(remote.DefaultTimeout)
	flags.BoolVar(&s.followLinks, "follow-links", false, "follow links, paths and URLs that lead out of SOURCE")
	flags.Var(&s.ioDepth, "io-depth", "reads in flight to a SOURCE that answers late, and lookups; 64 suits disks and file servers")
	flags.Var(&s.timeout, "timeout", "how long requests to a URL are repeated before they fail, such as 30s or 5m")
	flags.BoolVar(&s.anonymous, "anonymous", false, "use no credentials for a URL")
	flags.StringVar(&s.endpoint, "endpoint", "", "read s3:// from the server at this `URL` (else: AWS_ENDPOINT_URL, the profile, AWS)")
	flags.StringVar(&s.region, "region", "", "the `REGION` of s3:// (else: AWS_REGION, the profile, us-east-1)")
}

// depth returns the number of requests in flight, also for a command without the flags.
func (s sourceFlags) depth() int { return cmp.Or(int(s.ioDepth), store.DefaultDepth) }

func (s sourceFlags) open(path string, log *slog.Logger) (*dataset.Dataset, error) {
	return openSource(path, s.options(log))
}

// openSource opens what a mount can show of a source. If its path does not exist, a hint says what does.
func openSource(path string, o dataset.Options) (*dataset.Dataset, error) {
	path, err := link.Source(path)
	if err != nil {
		return nil, err
	}
	opened, err := dataset.Open(context.Background(), path, o)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !paths.IsURL(path) && !exists(path):
		return nil, absentError("source", path, err)
	case err != nil:
		return nil, err
	}
	opened.Root = shown.In(opened.Root, o.Log)
	return opened, nil
}

// options are the options of a source that only this process reads.
func (s sourceFlags) options(log *slog.Logger) dataset.Options {
	return dataset.Options{
		FollowLinks: s.followLinks,
		Depth:       s.depth(),
		Log:         log,
		Timeout:     time.Duration(s.timeout),
		Anonymous:   s.anonymous,
		Endpoint:    s.endpoint,
		Region:      s.region,
		UserAgent:   "wkwfs/" + version().Version,
		Allow: func(string) error {
			tuneForObjects()
			return nil
		},
	}
}
