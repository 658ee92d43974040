// Package remote reads objects from S3, Google Cloud Storage and web servers.
//
// [Open] returns an [object.Bucket] for a URL. All kinds share one layer of requests (client): connections that are kept, a time
// limit, attempts with growing pauses, and errors that name the URL, the status, the id of the request and what to do. Keys and
// URLs in errors never have credentials, signatures or queries.
//
// # One version
//
// Each read of a range names the version that it expects: an ETag (If-Match) or a generation (ifGenerationMatch). The answer's version
// and length are compared, too, because some servers ignore such conditions. Where there is no ETag, the time of the last change and a weak ETag are
// the version. A difference is vfs.ErrChanged.
//
// Some servers say less in answers to GET than to HEAD, or more. A version has what either of them says, and each read confirms it: by its answer, or by a
// description of the object after it.
//
// # Refusals
//
// Stores refuse a request for an absent object, instead of saying that it does not exist, where the user may not list. See
// (*refusals).
package remote
