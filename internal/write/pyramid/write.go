package pyramid

import "io"

// writeBytes is the most bytes of one write. The page cache takes the memory of a large write in large pieces, and
// pieces of more than 2 MiB are slow to find on some machines. Each smaller write costs time of its own.
const writeBytes = 1 << 20

// writeAt writes b at an offset. Writes end at multiples of writeBytes in the file.
func writeAt(f io.WriterAt, b []byte, offset int64) error {
	for len(b) > 0 {
		n := int(min(int64(len(b)), writeBytes-offset%writeBytes))
		if _, err := f.WriteAt(b[:n], offset); err != nil {
			return err
		}
		b, offset = b[n:], offset+int64(n)
	}
	return nil
}
