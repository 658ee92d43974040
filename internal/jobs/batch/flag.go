package batch

import "os"

// Set implements pflag.Value.
func (p *Part) Set(text string) (err error) {
	*p, err = Parse(text, os.Getenv)
	return err
}

// Type implements pflag.Value.
func (p *Part) Type() string { return "I/N" }
