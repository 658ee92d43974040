// Package batch divides work among the tasks of a job: the arrays of Slurm, the indexed Jobs of Kubernetes, or numbers that a
// user gives.
//
// A [Part] says which task this is. A [Plan] collects the items of the whole job, such as the cubes of a dataset, with their
// stored bytes. Each task makes the same plan and cuts it into as many shares of about equal bytes as there are parts. Tasks do
// not talk to each other: a task may run twice, at the same time as others, on any machine.
package batch
