//go:build !linux

package pyramid

import "os"

func startWriting(*os.File, int64, int64) {}
