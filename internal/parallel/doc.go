// Package parallel does many things at a time, for those who would otherwise wait for one answer of a late source after the
// other.
//
// What is under way at a time is bounded, and nothing goes on when a function has
// returned.
package parallel
