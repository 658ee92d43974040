// Starts Neuroglancer. Without a state in the fragment of the URL, the server at the directory of this page makes one.
import "neuroglancer/unstable/util/polyfills.js";
import "neuroglancer/unstable/layer/enabled_frontend_modules.js";
import "neuroglancer/unstable/datasource/enabled_frontend_modules.js";
import "neuroglancer/unstable/kvstore/enabled_frontend_modules.js";
import { setupDefaultViewer } from "neuroglancer/unstable/ui/default_viewer_setup.js";
import { StatusMessage } from "neuroglancer/unstable/status.js";

let view = {};
if (location.hash.length < 2) {
  const loading = load();
  StatusMessage.forPromise(loading, { initialMessage: "Looking at the layers …", delay: true, errorPrefix: "There is no view: " });
  view = await loading;
  history.replaceState(null, "", "#!" + encodeURIComponent(JSON.stringify(view.state)));
}
const viewer = setupDefaultViewer();
if (view.extent) fit(view.extent);
for (const text of view.unshown ?? []) StatusMessage.showTemporaryMessage(text, 10_000);

// load returns the view that the server makes. Neuroglancer wants the format after the address of a source.
async function load() {
  const reply = await fetch("state.json" + location.search);
  if (!reply.ok) throw new Error(await reply.text());
  const view = await reply.json();
  for (const layer of view.state.layers) layer.source = new URL(layer.source, location.href).href + "|neuroglancer-precomputed:";
  return view;
}

// fit chooses the scale at which each cross section shows all of the extent, which is in sides of the smallest voxel. Only
// then is the size of the panels known.
function fit([x, y, z]) {
  const panel = document.querySelector(".neuroglancer-rendered-data-panel");
  if (!panel?.clientWidth || !panel.clientHeight) {
    requestAnimationFrame(() => fit([x, y, z]));
    return;
  }
  const all = viewer.state.toJSON().layout === "4panel"; // xy, xz and yz
  const across = all ? Math.max(x, z) : x;
  const down = all ? Math.max(y, z) : y;
  const margin = 1.1;
  viewer.navigationState.zoomFactor.value = margin * Math.max(across / panel.clientWidth, down / panel.clientHeight);
  viewer.perspectiveNavigationState.zoomFactor.value = margin * Math.hypot(x, y, z);
}
