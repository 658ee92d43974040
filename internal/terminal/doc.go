// Package terminal draws pictures on terminals: by the graphics protocol of kitty or by sixels where the terminal has
// them, else with characters.
//
// A terminal is asked for what it has, unless its name or the environment says that it has nothing. It has two seconds
// to answer, so a terminal that does not answer delays a picture by two seconds.
package terminal
