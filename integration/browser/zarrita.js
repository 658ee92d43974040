// Reads boxes of Zarr arrays with zarrita. stdin: a JSON list of
//
//   {url, axes, box?}    axes: the names of the array's axes, in its order; box: {x: [from, to], …}
//
// stdout: for each, a line with the SHA-256 of the voxels, channel fastest, then x, y, z, little-endian.
import { createHash } from "node:crypto";
import { json } from "node:stream/consumers";
import * as zarr from "zarrita";

for (const request of await json(process.stdin)) console.log(await hash(request));

async function hash({ url, axes, box = {} }) {
  const array = await zarr.open(new zarr.FetchStore(url), { kind: "array" });
  const part = await zarr.get(array, axes.map((name) => (box[name] ? zarr.slice(...box[name]) : null)));
  // Bytes, because assigning a NaN may change its bits.
  const { buffer, byteOffset, BYTES_PER_ELEMENT: size } = part.data;
  const voxels = new Uint8Array(part.data.length * size);
  const sizeOf = (name) => (axes.includes(name) ? part.shape[axes.indexOf(name)] : 1);
  const strideOf = (name) => (axes.includes(name) ? part.stride[axes.indexOf(name)] : 0);
  let i = 0;
  for (let z = 0; z < sizeOf("z"); z++) {
    for (let y = 0; y < sizeOf("y"); y++) {
      for (let x = 0; x < sizeOf("x"); x++) {
        for (let c = 0; c < sizeOf("c"); c++) {
          const at = c * strideOf("c") + x * strideOf("x") + y * strideOf("y") + z * strideOf("z");
          voxels.set(new Uint8Array(buffer, byteOffset + at * size, size), i);
          i += size;
        }
      }
    }
  }
  return createHash("sha256").update(voxels).digest("hex");
}
