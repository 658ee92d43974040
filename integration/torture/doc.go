// Package torture tries a program with random cases until a time is over, and makes the cases that fail small.
//
// A [Trial] generates cases from a random source and runs them. A case is a Go value. If it fails, its JSON is printed,
// and a test can run it again from the JSON. A run of a case uses no other random numbers, so a case does the same each
// time.
//
// [Run] takes turns between the trials. Case n of a trial depends on the seed, the name of the trial and n only: the
// same seed gives the same cases. The time and the other trials do not matter.
//
// A case that fails is run again with parts left out: elements of lists, entries of maps, pieces of strings; numbers
// become smaller. A smaller case that still fails replaces the case, until nothing can be left out or [Options].Shrink
// is over. A trial needs no code for that. A value of type [Seed] stays as it is, because another seed is another case,
// not a smaller one.
//
// Cases run one after the other, as tests do. A trial gets a [testing.TB] of the case: a failure of it, or FailNow, is
// one of the case and not of the test.
package torture
