package webknossos

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"unicode/utf8"

	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Omitted lists the layers in the metadata, and the symbolic links, that are not in Layers.
func (d *dataset) Omitted() []volume.Omission {
	var all []volume.Omission
	named := map[string]bool{}
	if d.props != nil {
		for _, l := range d.props.Layers {
			named[l.Name] = true
		}
	}
	for name := range subdirs(d.fsys, d.dir) {
		if !utf8.ValidString(name) && len(all) < maxLayers {
			all = append(all, volume.Omission{Name: jsonlimit.Abbreviate(name), Reason: "its name is not UTF-8"})
		}
	}
	for _, o := range brokenLinks(d.fsys, d.dir) {
		if d.omissionReason(o.Name) != "" {
			all = append(all, o)
			delete(named, o.Name)
		}
	}
	if d.props != nil {
		for _, l := range d.props.invalid {
			if l.taken || d.omissionReason(l.name) != "" {
				all = append(all, volume.Omission{Name: jsonlimit.Abbreviate(l.name),
					Reason: PropertiesFile + ": " + l.err.Error(), Fault: true})
			}
			if !l.taken {
				delete(named, l.name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if reason := d.omissionReason(name); reason != "" {
			_, _, err := d.find(name)
			all = append(all, volume.Omission{Name: jsonlimit.Abbreviate(name), Reason: reason,
				Fault: isKindError(err)})
		}
	}
	return all
}

// omissionReason returns why Layers does not return a name. It returns "" if there is a layer of this name, or if an
// error leaves that open. A directory that must not be read is omitted: it is often not part of the dataset.
func (d *dataset) omissionReason(name string) string {
	_, reason, err := d.find(name)
	if d.knownPoints(name) != nil {
		return ""
	}
	if errors.Is(err, fs.ErrPermission) {
		return err.Error()
	}
	return reason
}

// Omitted lists the mags in the metadata, and the symbolic links, that are not in Mags.
func (l *layer) Omitted() []volume.Omission {
	var all []volume.Omission
	known := l.factors()
	for _, o := range brokenLinks(l.fsys, l.dir) {
		if f, ok := volume.ParseFactor(o.Name); ok && !known[f] {
			all = append(all, o)
			known[f] = true
		}
	}
	for _, m := range l.described {
		if f := m.Factor(); !known[f] {
			all = append(all, l.omission(l.nameOf(m), l.omissionReason(m)))
			known[f] = true
		}
	}
	return all
}

// omission returns the omission of a mag. The reason does not count if the mag is no directory.
func (l *layer) omission(name, reason string) volume.Omission {
	if _, err := l.find(name); isKindError(err) {
		return volume.Omission{Name: name, Reason: err.Error(), Fault: true}
	}
	return volume.Omission{Name: name, Reason: reason}
}

// factors returns the factors of Mags.
func (l *layer) factors() map[volume.Factor]bool {
	names, _ := l.Mags()
	known := map[volume.Factor]bool{}
	for _, name := range names {
		f, _ := volume.ParseFactor(name)
		known[f] = true
	}
	return known
}

// omissionReason returns why a mag in the metadata is not in Mags.
func (l *layer) omissionReason(m MagProperties) string {
	if _, local := localPath(m.Path); m.Path != "" && !local {
		return l.outsideReason(m)
	}
	at, ok := l.locationOf(m)
	if l.opener != nil {
		if !ok {
			at = location{fsys: l.fsys, dir: path.Join(l.dir, m.Factor().String()), factor: m.Factor(), props: m}
		}
		if _, err := l.open(at); err != nil {
			return err.Error()
		}
	}
	return "not in the source"
}

// outsideReason returns why a mag whose path leads out of the dataset is not in Mags.
func (l *layer) outsideReason(m MagProperties) string {
	reason := fmt.Sprintf("its path %q leads out of the dataset", jsonlimit.Abbreviate(m.Path))
	if l.o.Outside == nil {
		return reason + "; --follow-links follows it"
	}
	fsys, err := l.o.Outside(m.Path)
	switch {
	case err != nil:
		return reason + ": " + err.Error()
	case l.opener == nil:
		return reason + ": no mag found there"
	}
	if _, err = l.open(location{fsys, ".", m.Factor(), m.Path, m}); err != nil {
		return err.Error()
	}
	return reason
}

// firstOutside returns why the first mag is not in Mags whose path leads out of the dataset, for a layer without any
// mag. It is empty if there is none.
func (l *layer) firstOutside() string {
	for _, m := range l.described {
		if _, local := localPath(m.Path); m.Path != "" && !local {
			return fmt.Sprintf(": mag %s: %s", l.nameOf(m), l.outsideReason(m))
		}
	}
	return ""
}

// reasons returns why a layer has no mags, for an error.
func (l *layer) reasons() string {
	for _, o := range l.Omitted() {
		return fmt.Sprintf(": mag %s: %s", o.Name, o.Reason)
	}
	return ": no mags found"
}

// kindFault returns a *vfs.KindError if something else than a directory is at a location of a mag in the metadata.
// Other files with names of mags are not part of the dataset.
func (l *layer) kindFault(name string) error {
	var places []location
	for _, m := range l.byName[name] {
		if at, ok := l.locationOf(m); ok {
			places = append(places, at)
		}
		places = append(places, location{fsys: l.fsys, dir: path.Join(l.dir, name)})
	}
	for _, at := range places {
		if info, err := fs.Stat(at.fsys, at.dir); err == nil {
			if err := vfs.CheckKind(at.dir, info, fs.ModeDir); err != nil {
				return err
			}
		}
	}
	return nil
}

// isKindError reports whether err is about a file of another kind than its place needs.
func isKindError(err error) bool {
	var kind *vfs.KindError
	return errors.As(err, &kind)
}
