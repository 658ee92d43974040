// Package remote reads objects from S3, Google Cloud Storage and web servers.
//
// [Open] returns an [object.Bucket] for a URL. All kinds share one layer of requests (client): connections that are
// kept, a time limit, attempts with growing pauses, and errors that say what to do. Keys and URLs in errors never have
// credentials, signatures or queries.
//
// # One version
//
// Each read of a range names the version that it expects: an ETag (If-Match) or a generation (ifGenerationMatch). The
// answer's version and length are compared, too, because some servers ignore such conditions. Where there is no ETag,
// the time of the last change and a weak ETag are the version. A difference is vfs.ErrChanged.
//
// Some servers say less in answers to GET than to HEAD, or more. A version has what either of them says, and each read
// confirms it: by its answer, or by a description of the object after it.
//
// # Refusals
//
// Stores refuse a request for an absent object, instead of saying that it does not exist, where the user may not list.
// See (*refusals).
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - Each read names the version of the object: its ETag or generation, else the time of its last change and its weak
//     ETag. If the object has another one, readers of open files get EIO, and the next open shows the new object.
//     `TestRead`, `TestRequests`, `TestValidators`, `TestGCS`, `TestClientCloudReplaced`
//   - Broken connections, answers that are cut short, and status 408, 429, 500, 502, 503 and 504 are repeated, with
//     growing pauses or those of `Retry-After`, for `--timeout`. Then the read fails with EIO. Other requests fail at
//     once for the next second, so that a read takes one timeout and not one for each request. Later reads try again.
//     Not repeated are wrong credentials, a bucket that does not exist, a certificate that is not accepted, and a host
//     that is unknown or refuses connections, until it has answered once.
//     `TestRetries`, `TestGivesUp`, `TestHangs`, `TestOutage`, `TestRemoteFaults`, `TestMissingBucket`,
//     `TestClientCloudFaults`, `TestClientCloudLies`, `TestClientCloudNetwork`, `TestTrickle`
//   - An open file has the bytes of one version. If anything changes that the server says of the version, a read fails:
//     also on servers that ignore conditions, or that say it only in answers to HEAD, or only to GET. If an answer to a
//     read does not say the version or the size, wkwfs asks for both after it.
//     `TestOneVersion`, `TestOneGeneration`, `TestListingsWithoutVersion`, `TestRequestsOfVersions`,
//     `TestOpenFileIsOneVersion`, `TestTorture`
//   - Times have whole seconds. If a server says only a time or a weak ETag, a change that keeps these and the size is
//     not noticed. If it says only the size, only a change of the size is noticed; the log says so.
//     `TestOneVersion`, `TestClientCloudNoVersion`
//   - An answer of a store is valid for a second, or for 20 times as long as it took, at most for a minute. That
//     includes the answer that an object is absent. Objects are late sources: files that are made of cubes follow the
//     rules of late sources, and the two times add up.
//     `TestTTL`, `TestRequests`, `TestOneListing`, `TestSubtree`
//   - If a program lists directories of one directory in their order, by name or by number, the next ones are
//     listed ahead: up to 64 at a time, and no more than the program lists in half a second. Such a listing is
//     valid as long as any other.
//     `TestListAhead`, `TestNoListAhead`, `TestListAheadIsValid`, `TestListAheadAgrees`,
//     `TestClientCloudListAhead`
//   - A directory that may have more than 3,000 entries whose names are numbers, such as `x12.wkw`, is listed in
//     up to ten parts at the same time. It has the same entries in the same order as in one listing. A store that
//     lists by prefix is needed: S3 or GCS.
//     `TestLargeListing`, `TestLargeListingAgrees`, `TestManyLargeListings`, `TestLargeListingStops`,
//     `TestLargeListingIsValid`, `TestDivide`
//   - A listing whose pages bring fewer than 1,000 new names within `--timeout` of requests is an error, unless it
//     ends: its pages are empty, or repeat names. A directory of an object store with more than 2^24 names (16.7
//     million) is an error that names it: a store may invent names forever. A directory below that is listed in full.
//     `TestListingsThatDoNotEnd`, `TestRepeatedNames`, `TestInventedNames`
//   - A reader that is killed does not wait for a request.
//     `TestHangs`, `TestBackoffEndsWithReader`, `TestClientCloudKill`
//   - An error names the URL, the status, the id of the request, and often what to do. It has no credentials, and
//     no query.
//     `TestGivesUp`, `TestS3Signature`, `TestRedirects`, `TestRemoteFaults`, `TestClientCloudErrors`
//   - A store that may not be listed refuses requests for absent objects. Such an object reads as absent, if an
//     object that exists can be read at that time. The log says so once. Without that, a refusal is an error.
//     `TestRefusals`, `TestClientCloudNoListing`
//   - A server that ignores ranges serves files of up to 1 MiB. Larger ones are errors.
//     `TestNoRanges`
//   - On a web server without an index, `ls` of the source shows what metadata name. Other files are found by
//     their names.
//     `TestCannotList`, `TestRemoteSources`
//   - A URL in metadata that leads out of SOURCE is followed only with `--follow-links`. A remote dataset cannot
//     name a file of this machine.
//     `TestPathsThatAreURLs`, `TestOutsideURLs`
//   - Such a URL is in SOURCE only if every server reads it so: those that decode `%2e`, `%2f` and `%5c` once or
//     more often, that take `\` for `/`, and that cut names at `;`. Host and scheme may have capitals, and the
//     usual port may be named. SOURCE's user, password and query are sent to it then, and to no other URL.
//     `TestIsBelow`, `TestNoPathLeadsOut`
//   - No request is sent to a web server for a name that some server reads as a path out of SOURCE. It is an
//     error, not absent.
//     `TestNamesThatLeadOut`, `TestMetadataCannotLeadOut`
//   - Requests go to the server that the options, the environment or the profile of AWS' tools name. No redirect of a
//     chain leads from https to http. Passwords and tokens go to no other host, port or scheme. Redirects of servers
//     that give credentials are not followed.
//     `TestS3Places`, `TestS3Region`, `TestRedirects`, `TestRedirectChains`, `TestLoginRedirects`, `TestEmulator`
//   - Credentials that cannot be had are an error. No object counts as absent because of them.
//     `TestLoginRedirects`
//   - Credentials of S3 come from the environment, else the profile, else a role: of the pod, the container, or the
//     machine. A role is asked for only if the store is of AWS, or if the profile names it. The metadata of the machine
//     are asked for only where there are signs of EC2. A role that the environment or the profile names, and that has
//     no credentials, is an error.
//     `TestS3Roles`, `TestS3RoleRefused`, `TestS3RoleSettings`, `TestIsEC2`, `TestContainerHosts`
//   - Credentials that expire are renewed before that. Requests use the old ones until the new ones are there.
//     `TestCredentialsAreRenewed`, `TestCredentialsCanBeLeft`
//   - Answers of a store that are parsed take 16 MiB together, or a few times as much, whatever they have: listings,
//     indexes of web servers, and errors. An answer has at most 10,000 names, an index 262,144. A header of more than
//     32 KiB is an error. Headers of interim answers (1xx) before it count. Answers with credentials have up to 64 KiB.
//     `TestMemoryOfAnswers`, `TestSharedMemory`, `TestAnswerLimits`, `TestCheckMarkup`, `TestLongHeaders`,
//     `TestLongLogins`
package remote
