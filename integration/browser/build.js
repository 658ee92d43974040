// Builds page/: Neuroglancer's own program, and its two workers.
import * as esbuild from "esbuild";
import { copyFile } from "node:fs/promises";

const library = "node_modules/neuroglancer/lib";

// The picture of every icon is empty: they come from a package that npm would fetch
// with git, and no icon lies over voxels.
const icons = {
  name: "icons",
  setup(build) {
    build.onResolve({ filter: /^ikonate\// }, (import_) => ({ path: import_.path, namespace: "icons" }));
    build.onLoad({ filter: /.*/, namespace: "icons" }, () => ({ contents: "<svg></svg>", loader: "text" }));
  },
};

await esbuild.build({
  entryPoints: ["main", "chunk_worker", "async_computation"].map((name) => `${library}/${name}.bundle.js`),
  outdir: "page",
  bundle: true,
  minify: true,
  format: "esm",
  target: "chrome110",
  loader: { ".svg": "text", ".wasm": "file", ".html": "text" },
  plugins: [icons],
  logLevel: "warning",
});
await copyFile("index.html", "page/index.html");
