// Package terminal draws pictures on terminals with characters: half blocks in colour, or text where a terminal has no
// colours.
package terminal
