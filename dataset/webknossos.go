package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"

	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/internal/small/link"
	"github.com/wkwfs/wkwfs/internal/small/paths"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
	"github.com/wkwfs/wkwfs/webknossos"
)

// maxDescription is the size of the description of a dataset in the API of WEBKNOSSOS, in bytes.
const maxDescription = 1 << 20

// description is what the API of WEBKNOSSOS says about a dataset.
type description struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Directory    string `json:"directoryName"` // older versions have the name only
	Organization string `json:"owningOrganization"`
	DataStore    struct {
		URL string `json:"url"`
	} `json:"dataStore"`
}

// withoutLink returns the URL at which a server of WEBKNOSSOS streams a dataset as Zarr, for the link of the dataset.
// Other URLs are returned as they are. The token of a link becomes that of all requests.
func (d *directories) withoutLink(rawURL string) (string, error) {
	if err := link.RefuseWEBKNOSSOS(rawURL); err != nil {
		return "", err
	}
	l, ok := link.ParseWEBKNOSSOS(rawURL)
	if !ok {
		return rawURL, nil
	}
	about, err := d.describe(l)
	if err != nil {
		return "", err
	}
	for _, place := range about.places() {
		at := remote.Join(about.DataStore.URL, place) + query("token", l.Token)
		fsys, err := d.openURL(remote.Clean(at))
		if err != nil {
			return "", err
		}
		if _, err := fs.Stat(fsys, webknossos.PropertiesFile); err == nil {
			return at, nil
		}
	}
	return "", fmt.Errorf("%s: its data store %s does not stream the dataset as Zarr", remote.Display(rawURL),
		remote.Display(about.DataStore.URL))
}

// places returns the paths at which a data store may stream the dataset, by the versions of its API.
func (a description) places() (all []string) {
	for _, name := range []string{a.Directory, a.Name} {
		if name != "" && a.Organization != "" {
			dataset := url.PathEscape(a.Organization) + "/" + url.PathEscape(name)
			all = append(all, "data/v9/zarr/"+dataset, "data/zarr/"+dataset)
		}
	}
	if a.ID != "" {
		all = append(all, "data/zarr/"+url.PathEscape(a.ID))
	}
	return all
}

// describe asks the server of a link about its dataset.
func (d *directories) describe(l link.WEBKNOSSOS) (about description, err error) {
	var b []byte
	for _, name := range l.Paths {
		fsys, err := d.openURL(remote.Clean(remote.Join(l.Server, path.Dir(name)) + query("sharingToken", l.Token)))
		if err != nil {
			return about, err
		}
		if b, err = jsonlimit.ReadFile(fsys, path.Base(name), maxDescription); err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return about, notPublic(l, err)
		}
	}
	if b == nil {
		return about, notPublic(l, fs.ErrNotExist)
	}
	if err := json.Unmarshal(b, &about); err != nil || !paths.IsURL(about.DataStore.URL) {
		return about,
			fmt.Errorf(
				"%s: expected the description of a dataset of WEBKNOSSOS with the URL of its data store, found something else", remote.Display(l.Server))
	}
	return about, nil
}

// notPublic adds to an error what may help.
func notPublic(l link.WEBKNOSSOS, err error) error {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		err = failed.Err
	}
	return hint.Errorf("a dataset has to be public, or the link one for sharing, with ?token=…",
		"WEBKNOSSOS at %s: the dataset: %w", remote.Display(l.Server), err)
}

// query returns a query with a value, or "" without one.
func query(name, value string) string {
	if value == "" {
		return ""
	}
	return "?" + url.Values{name: {value}}.Encode()
}
