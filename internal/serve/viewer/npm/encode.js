// build.js puts this function into Neuroglancer's encoder of compressed segmentations. It packs the
// indexes of a block: encodedBits each, the first in the lowest bits.
function writeEncodedRepresentation(outputData, outputOffset, encodingBuffer, indexBuffer, encodedBits, encodedSize32Bits) {
  if (encodedBits === 0) return;
  for (let word = 0, element = 0; word < encodedSize32Bits; ++word) {
    let packed = 0;
    for (let shift = 0; shift < 32; shift += encodedBits) packed |= indexBuffer[encodingBuffer[element++]] << shift;
    outputData[outputOffset + word] = packed;
  }
}
