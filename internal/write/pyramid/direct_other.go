//go:build !linux

package pyramid

func writesDirectly(string) bool { return false }

func openDirect(string) directFile { return nil }
