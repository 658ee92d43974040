package main

import (
	"context"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/compose/subset"
	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/serve/viewer"
	"github.com/wkwfs/wkwfs/internal/serve/web"
	"github.com/wkwfs/wkwfs/internal/small/log"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
)

// webSettings are the settings of all commands that serve a SOURCE over HTTP.
type webSettings struct {
	from      sourceFlags
	diskCache diskCacheFlags
	source    string
	cacheSize settings.Size
	unit      settings.Unit
	log       log.Options
}

func (s *webSettings) register(flags *pflag.FlagSet) {
	s.cacheSize = defaultCacheSize
	s.from.register(flags)
	s.diskCache.register(flags)
	settings.RegisterConfig(flags)
	flags.Var(&s.cacheSize, cacheSizeFlag, "memory for decoded blocks, such as 512MiB or 4GB")
	registerLog(flags, &s.log)
}

// settle takes the settings that the command line does not have from the environment and from files.
func (s *webSettings) settle(flags *pflag.FlagSet) error {
	if err := settings.Settle(flags, s.source); err != nil {
		return err
	}
	return fitCache(flags, &s.cacheSize, thisMemory())
}

const (
	publicNeuroglancer = "https://neuroglancer-demo.appspot.com/"
	builtIn            = "built-in"

	// getViewer says how to get a program with a viewer.
	getViewer = "packages and releases of wkwfs have it; in a clone, `make viewer build` builds one"

	viewerHelp = `A program that was built without Neuroglancer opens layers in the one at
` + publicNeuroglancer + `, and lets scripts of that site read.
Packages and releases have a Neuroglancer; in a clone, "make viewer build" builds one.`
)

// viewerChoice is a viewer: that of this program, or one at a URL. The zero value is none.
type viewerChoice struct {
	files fs.FS
	url   string
}

// defaultViewer returns the viewer of this program or, if it has none, the public one.
func defaultViewer() viewerChoice {
	if files := viewer.Files(); files != nil {
		return viewerChoice{files: files}
	}
	return viewerChoice{url: publicNeuroglancer}
}

// site is what a server shows.
type site struct {
	tree    fs.FS
	options web.Options // changed before serve is called
	log     *slog.Logger
	close   func()
}

// open opens the source, or the part of it that part names. The caller closes the site.
func (s *webSettings) open(stderr io.Writer, part *subset.Options, viewer viewerChoice) (*site, error) {
	path, err := realSource(s.source)
	if err != nil {
		return nil, err
	}
	logger, _, err := newLogger(s.log, stderr)
	if err != nil {
		return nil, err
	}
	tuneRuntime(int64(s.cacheSize))
	disk, err := s.diskCache.open(logger)
	if err != nil {
		return nil, err
	}
	log := logger
	if part != nil { // a user looks at the screen
		log = plainLogger(stderr)
	}
	opened, err := disk.open(s.from, path, log)
	if err != nil {
		return nil, err
	}
	blocks := cache.New(int64(s.cacheSize))
	gaps := lookForGaps(opened, path, blocks, log)
	if part != nil {
		waitForGaps(gaps)
	}
	root := opened.Root
	if part != nil {
		if root, err = subset.Of(root, *part); err != nil {
			return nil, err
		}
	}
	options := web.Options{Name: filepath.Base(remote.Display(path)), Viewer: viewer.files, Neuroglancer: viewer.url,
		Log: logger}
	if u, err := url.Parse(viewer.url); err == nil && viewer.url != "" {
		options.Origins = []string{u.Scheme + "://" + u.Host}
	}
	return &site{
		tree:    view.New(root, view.Options{Cache: blocks, Log: logger, Private: true, Unit: header.Unit(s.unit)}),
		options: options,
		log:     logger,
		close:   func() { blocks.Close(); disk.close() },
	}, nil
}

// serve answers the requests of a listener until ctx is done. names are those that the server has besides its
// addresses.
func (s *site) serve(ctx context.Context, listener net.Listener, names []string) error {
	handler := web.CheckHost(web.Handler(s.tree, s.options), listener.Addr(), names...)
	return web.Serve(ctx, listener, handler, s.log)
}
