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
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - `wkwfs serve` answers with the bytes of the mount, whole or by ranges. Damage is an error status before the
//     first byte, and a cut connection after it.
//     `TestReplies`, `TestDamageInTheMiddle`, `TestServe`
//   - ETags are strong and change with the content. HEAD reads no voxels.
//     `TestChangeAndRange`, `TestHeadReadsNothing`
//   - A directory is listed completely as JSON. The list of 4,096 entries or more has no ETag. A page shows about
//     20,000 entries, and says if there are more.
//     `TestLargeIndex`
//   - With a token, nothing is served without it, except the scripts and styles of the viewer, which are the same
//     for everybody.
//     `TestToken`, `TestViewerFiles`
//   - Scripts of other web sites cannot read, unless `--allow-origin` or `--neuroglancer` names their site. A
//     program without a viewer of its own lets in the site of the Neuroglancer that it opens, and no other.
//     `TestOrigins`, `TestViewerSites`
//   - Pages, and files that a browser shows, run no scripts but those of the viewer, and the viewer reaches no
//     other server.
//     `TestViewerFiles`, `TestReplies`
//   - The view of `wkwfs view` and `serve` shows the middle of the data, with the sizes of its voxels. The
//     contrast of an image comes from at most 4 MiB of the coarsest mag. The view waits for it at most five
//     seconds.
//     `TestViewerState`, `TestMeasure`, `TestSampleBoxes`, `TestContrastOfLateSource`
//   - `wkwfs view` can be read only with the token in its link. The arguments of the browser do not have it: their
//     link works once, and only for processes of the user and of root. On macOS the browser has no arguments, and
//     on FreeBSD it is not opened.
//     `TestView`, `TestViewOfOthers`, `TestOneTimeLink`, `TestFindSocket`
//   - The server answers only requests for its address, for localhost, and for the names that `--host` gives. So
//     does the server of metrics. A web site cannot use its own name to read from them.
//     `TestHost`, `TestServeNames`
//   - A client holds at most about half of the slots for requests that are free. If a request has to wait, the
//     server closes the connection of a client that has accepted no bytes for two seconds.
//     `TestSlotsAreShared`, `TestSlotQueue`, `TestClientsThatDoNotRead`
package web
