package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/compose/shown"
	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/small/link"
	"github.com/wkwfs/wkwfs/internal/small/paths"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
	"github.com/wkwfs/wkwfs/internal/stores/store"
)

// sourceHelp says in help texts what a SOURCE is.
const sourceHelp = `SOURCE is a WEBKNOSSOS dataset, a layer, a mag, a single .wkw file, an annotation download
(.zip, or unpacked), a Neuroglancer Precomputed volume, or a Zarr or N5 array or group, also
in a zip archive (.ozx, .zip; a.zip!b.zip is an archive in one), a KNOSSOS dataset, an HDF5
file, or a file or folder that wkwfs import takes, with its --shape, --dtype and --axes. It
is a path, or the URL of an object store or a web server: s3://BUCKET/PATH,
gs://BUCKET/PATH, https://HOST/PATH; also the link of a public dataset in WEBKNOSSOS, or one
of Neuroglancer with one source.`

// sourceFlags are the flags of all commands that read a SOURCE.
type sourceFlags struct {
	followLinks bool
	ioDepth     settings.Depth
	over        string // the dataset of an annotation
	relabel     tables
	file        fileFlags

	// Of sources with a URL.
	timeout          settings.Timeout
	anonymous        bool
	endpoint, region string
}

func (s *sourceFlags) register(flags *pflag.FlagSet) {
	s.ioDepth, s.timeout = store.DefaultDepth, settings.Timeout(remote.DefaultTimeout)
	flags.BoolVar(&s.followLinks, "follow-links", false, "follow links, paths and URLs that lead out of SOURCE")
	flags.StringVar(&s.over, "over", "", "SOURCE is a volume annotation: show it over the `DATASET` that was annotated")
	flags.Var(&s.relabel, "relabel",
		"add a layer whose ids are mapped by `LAYER=FILE`, an .npy, .csv or .json file; may be repeated, or have ; between several")
	s.file.register(flags)
	flags.Var(&s.ioDepth, "io-depth",
		"reads in flight to a SOURCE that answers late, and lookups; 64 suits disks and file servers")
	flags.Var(&s.timeout, "timeout", "how long requests to a URL are repeated before they fail, such as 30s or 5m")
	flags.BoolVar(&s.anonymous, "anonymous", false, "use no credentials for a URL")
	flags.StringVar(&s.endpoint, "endpoint", "",
		"read s3:// from the server at this `URL` (else: AWS_ENDPOINT_URL, the profile, AWS)")
	flags.StringVar(&s.region, "region", "", "the `REGION` of s3:// (else: AWS_REGION, the profile, us-east-1)")
}

// depth returns the number of requests in flight, also for a command without the flags.
func (s sourceFlags) depth() int { return cmp.Or(int(s.ioDepth), store.DefaultDepth) }

// tables are files with ids of layers, each as LAYER=FILE. As one text, they have ; between them.
type tables []string

const betweenTables = ";"

func (t *tables) String() string { return strings.Join(*t, betweenTables) }
func (t *tables) Type() string   { return "tables" }

// Set adds tables.
func (t *tables) Set(s string) error {
	if s == "" {
		return nil
	}
	for one := range strings.SplitSeq(s, betweenTables) {
		if layer, file, ok := strings.Cut(one, "="); !ok || layer == "" || file == "" {
			return fmt.Errorf("expected LAYER=FILE, found %q", one)
		}
		*t = append(*t, one)
	}
	return nil
}

// makeAbsolute makes the paths of other files than SOURCE independent of the working directory. URLs stay as they are.
func (s *sourceFlags) makeAbsolute() (err error) {
	if s.over != "" {
		if s.over, err = realSource(s.over); err != nil {
			return fmt.Errorf("--over: %w", err)
		}
	}
	for i, r := range s.relabel {
		layer, file, ok := strings.Cut(r, "=")
		if !ok || file == "" || paths.IsURL(file) {
			continue // an error names it when the source is opened
		}
		if file, err = filepath.Abs(file); err != nil {
			return err
		}
		s.relabel[i] = layer + "=" + file
	}
	return nil
}

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
		Over:        s.over,
		Relabel:     s.relabel,
		File:        s.file.file(),
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
