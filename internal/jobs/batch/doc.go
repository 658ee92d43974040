// Package batch divides work among the tasks of a job: the arrays of Slurm, the indexed Jobs of Kubernetes, or numbers
// that a user gives.
//
// A [Part] says which task this is. A [Plan] collects the items of the whole job, such as the cubes of a dataset, with
// their stored bytes. Each task makes the same plan and cuts it into as many shares of about equal bytes as there are
// parts. Tasks do not talk to each other: a task may run twice, at the same time as others, on any machine.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - All parts of `wkwfs check --part I/N` together find what a check of the whole source finds, each fault once. A
//     mag or a directory that cannot be listed is a fault of every part.
//     `TestPartsOfCheck`, `TestPartsOfShards`
//   - All parts of `wkwfs cp --part I/N` together copy what a copy of the whole directory copies, each file once. A
//     cube is in one part with its blocks, and a shard with its chunks.
//     `TestPartsOfCopy`, `TestUnits`, `TestCopyPartsOfShards`, `TestCopyScripts`
//   - Of 1,000 parts of `check` or `cp`, the largest and the smallest differ by at most 5 % from an equal share of
//     the stored bytes, if no file has more than 2 % of such a share.
//     `TestSharesAreEqual`, `TestSharesAreDisjoint`
//   - A part of `check` lists each directory of cubes once, the first part twice, and a part of `cp` each
//     directory of the tree, if at most a million cubes, or 131,072 files, are likely to be in the part. What is
//     removed after that is neither a fault nor copied.
//     `TestPartListsOnce`, `TestPartOfCopyListsOnce`, `TestPartsOfManyCubes`, `TestLikely`
//   - Which part a cube belongs to does not depend on the machine, nor on the order of a directory. If the source
//     has changed between two parts, `wkwfs check --merge` says so.
//     `TestPlanInAnyOrder`, `TestNewItems`, `TestPlanIsTheSameEverywhere`, `TestMergeErrors`
//   - `wkwfs check --merge` prints the report of the whole source. It names parts without a complete report, and
//     the exit code is 1. Of two reports of a part, the later argument counts.
//     `TestMergeOfChecks`, `TestMergeNamesMissingParts`
//   - `--part auto` numbers the tasks of Slurm's arrays and of Kubernetes' indexed Jobs, whatever number they
//     start with. Where the number of parts is not known, or may not be that of the whole job, it is an error.
//     `TestParse`
package batch
