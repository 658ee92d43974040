// Builds ../dist: Neuroglancer with its two workers, the page around it, and the licences of
// all that they contain. Each file is compressed with gzip. The result depends on this
// directory alone.
import * as esbuild from "esbuild";
import { gzipSync, strToU8 } from "fflate";
import { existsSync } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, resolve } from "node:path";

const dist = "../dist";
const library = "node_modules/neuroglancer/lib";

// The formats and layers that wkwfs serves. Others would ask other hosts.
const conditions = [
  "neuroglancer/datasource:none_by_default",
  ...["precomputed", "zarr", "n5"].map((name) => `neuroglancer/datasource/${name}:enabled`),
  "neuroglancer/kvstore:none_by_default",
  ...["http", "byte_range", "gzip", "zip"].map((name) => `neuroglancer/kvstore/${name}:enabled`),
];

// The icons of Neuroglancer are in a version of ikonate that npm does not have. The few that
// the version of npm lacks are in the directory icons.
const icons = {
  name: "icons",
  setup(build) {
    build.onResolve({ filter: /^ikonate\/icons\// }, ({ path }) => {
      const name = basename(path.replace("?raw", ""));
      const own = `icons/${name}`;
      return { path: resolve(existsSync(own) ? own : `node_modules/ikonate/icons/${name}`), namespace: "icons" };
    });
    build.onLoad({ filter: /.*/, namespace: "icons" }, async ({ path }) => ({ contents: await readFile(path, "utf8"), loader: "text" }));
  },
};

// All bundles are in one directory here. In the library, one is in the directory above the
// script that starts it. And the encoder of segmentations is made of a string, which the policy
// of the page forbids.
const patches = [
  [/\/async_computation\/request\.js$/, '"../async_computation.bundle.js"', '"./async_computation.bundle.js"'],
  [/\/compressed_segmentation\/encode_common\.js$/, /const writeEncodedRepresentation = new Function\(.*?\}\)\(\)\n\);/s, await readFile("encode.js", "utf8")],
];
const patch = {
  name: "patch",
  setup(build) {
    for (const [filter, old, replacement] of patches) {
      build.onLoad({ filter }, async ({ path }) => {
        const text = await readFile(path, "utf8");
        const contents = text.replace(old, replacement);
        if (contents === text) throw new Error(`${path} is not the file that this build knows`);
        return { contents, loader: "js" };
      });
    }
  },
};

const { metafile } = await esbuild.build({
  entryPoints: { main: "main.js", chunk_worker: `${library}/chunk_worker.bundle.js`, async_computation: `${library}/async_computation.bundle.js` },
  entryNames: "[name].bundle",
  outdir: dist,
  write: false,
  metafile: true,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome110", "firefox115", "safari16.4"],
  conditions,
  loader: { ".svg": "text", ".wasm": "file", ".html": "text" },
  plugins: [icons, patch],
  legalComments: "none", // they are in licenses.txt
  logLevel: "warning",
}).then(async (result) => {
  for (const name of await readdir(dist)) {
    if (name !== ".gitignore") await rm(`${dist}/${name}`);
  }
  for (const { path, contents } of result.outputFiles) await save(basename(path), contents);
  return result;
});
await save("index.html", await readFile("index.html"));
await save("licenses.txt", strToU8(await licenses(metafile)));

async function save(name, contents) {
  await writeFile(`${dist}/${name}.gz`, gzipSync(contents, { level: 9, mtime: 0, mem: 9 }));
}

// licenses returns the licence of each package in the bundles, under its name and version.
async function licenses({ inputs }) {
  const packages = new Set(["ikonate"]); // its icons have a namespace of their own
  for (const input of Object.keys(inputs)) {
    const found = input.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//);
    if (found) packages.add(found[1]);
  }
  let text = "The viewer is made of these packages.\n";
  for (const name of [...packages].sort()) {
    const dir = `node_modules/${name}`;
    const { version, license } = JSON.parse(await readFile(`${dir}/package.json`, "utf8"));
    const file = (await readdir(dir)).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} has no licence file`);
    text += `\n${"=".repeat(80)}\n${name} ${version} (${license})\n\n${(await readFile(`${dir}/${file}`, "utf8")).trim()}\n`;
  }
  return `${text}\n${"=".repeat(80)}\n${await readFile("codecs-licenses.txt", "utf8")}`;
}
