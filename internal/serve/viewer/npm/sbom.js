// Prints the packages of npm in the viewer, as CycloneDX: those whose licences the build has found in its bundles. "npm sbom" cannot list them, because
// package.json replaces packages that the bundles do not need by an empty one. Nothing depends on the time or the network.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
const licenses = gunzipSync(readFileSync("../dist/licenses.txt.gz")).toString();

const components = [...licenses.matchAll(/^={80}\n(\S+) (\S+) \((.+)\)$/gm)].map(([, name, version, license]) => {
  const locked = packages[`node_modules/${name}`];
  if (locked?.version !== version) throw new Error(`${name}: the viewer has version ${version}, and package-lock.json ${locked?.version}: run "make viewer"`);
  const [, algorithm, hash] = locked.integrity.match(/^sha(512)-(.+)$/);
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  return {
    "bom-ref": purl, type: "library", name, version, purl, licenses: [{ license: { id: license } }],
    hashes: [{ alg: `SHA-${algorithm}`, content: Buffer.from(hash, "base64").toString("hex") }],
    externalReferences: [{ type: "distribution", url: locked.resolved }],
  };
});
if (components.length === 0) throw new Error("../dist/licenses.txt.gz names no package");

console.log(JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.5", version: 1, metadata: { component: { type: "application", name: "wkwfs-viewer" } }, components }, null, 2));
