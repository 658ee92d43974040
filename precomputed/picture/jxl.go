package picture

import "errors"

// DecodeJXL decodes a JPEG XL picture like [DecodePNG].
func DecodeJXL(data []byte, pixels, channels, bytesPerValue int, dst []byte) error {
	return errors.New("jxl: not written yet")
}
