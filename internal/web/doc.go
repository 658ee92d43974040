// Package web serves a read-only [fs.FS] over HTTP.
//
// [Handler] answers for the files with ranges, versions (ETag), gzip and CORS, for
// the directories with an index as JSON or HTML, and for the root, when a browser
// asks, with a page that shows the layers. What the page knows of layers it has from the
// files themselves: a directory with a volume.json is a mag. [Serve] is the server
// around a handler: its timeouts, and its end.
//
// A reply is right or is seen to fail. What cannot be read before the first byte is
// status 500 with the reason; later than that, the connection is cut, so that the
// length is not what was announced.
//
// Names that begin with .wkwfs are the server's own.
package web
