// Package web serves a read-only [fs.FS] over HTTP.
//
// [Handler] returns files, with ranges, versions (ETag), gzip and CORS. It lists directories as JSON or HTML. To a
// browser that asks for the root, it returns a page that shows the layers. The page gets all facts about layers from
// the files: a directory with a volume.json is a mag. [Serve] runs a server with a handler, timeouts and an orderly
// shutdown.
//
// A reply is correct or the client sees that it failed. If an error occurs before the first byte, the status is 500
// and the body has the reason. After the first byte, the connection is cut, so that the reply is shorter than
// announced.
//
// The paths below /.wkwfs belong to the server, not to the tree.
//
// # Decisions
//
// The server chooses what Neuroglancer shows: layers, contrast and position. Only the page knows its size, so the page
// chooses the zoom.
package web
