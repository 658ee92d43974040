// Package parallel does many things at a time, for commands that go through a whole source. In turn, they would wait
// for each answer of a source that answers late.
//
// What is under way at a time is bounded by the numbers that callers give, and nothing goes on when a function has
// returned.
package parallel
