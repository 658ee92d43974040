// Opens views in Neuroglancer and saves them as pictures. stdin: a JSON list of
//
//   {name, url, link?, size?, points?, artifacts}    link: selector of the element to click on at
//   the url; size: [width, height] of the window; points: positions relative to the middle of the view
//
// stdout: for each view, a line {screenshot, canvas, panel: {left, top, width, height},
// layers, state, values, problems}. canvas is a PNG of the pixels that WebGL drew, without the
// rest of the page. panel is the position of the first cross section in it. state is that of
// Neuroglancer. values are those of each layer at each point.
import { writeFile } from "node:fs/promises";
import { json } from "node:stream/consumers";
import { chromium } from "playwright-core";

const timeout = 60_000; // ms until all chunks of a view are loaded

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  // The sandbox does not work for root. WebGL runs without a GPU. No other host has an address.
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
});
for (const view of await json(process.stdin)) {
  console.log(JSON.stringify(await show(view).catch((error) => ({ problems: [String(error)] }))));
}
await browser.close();

async function show({ name, url, link, size = [700, 600], points = [], artifacts }) {
  const page = await browser.newPage({ viewport: { width: size[0], height: size[1] } });
  const problems = watch(page);
  const screenshot = `${artifacts}/${name}.png`;
  const canvas = `${artifacts}/${name}.canvas.png`;
  try {
    await page.goto(url);
    if (link) await page.click(link);
    await page.waitForFunction(isDone, null, { timeout });
    const { png, messages, ...shown } = await page.evaluate(read, points);
    await writeFile(canvas, Buffer.from(png, "base64"));
    return { screenshot, canvas, ...shown, problems: [...problems, ...messages] };
  } catch (error) {
    return { screenshot, problems: [...problems, String(error)] };
  } finally {
    await page.screenshot({ path: screenshot });
    await page.close();
  }
}

// watch collects errors of the page, which include what its policy forbids, failed requests, and
// requests to other hosts.
function watch(page) {
  const problems = [];
  page.on("pageerror", (error) => problems.push(`the page: ${error}`));
  page.on("console", (message) => {
    const { url } = message.location();
    if (message.type() === "error" && !isIcon(url)) problems.push(`the page: ${message.text()} ${url}`);
  });
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (hostname !== "127.0.0.1" && protocol !== "data:" && protocol !== "blob:") problems.push(`a request to another host: ${request.url()}`);
  });
  page.on("requestfailed", (request) => {
    const why = request.failure().errorText;
    // The page aborts requests for chunks that it no longer shows.
    if (why !== "net::ERR_ABORTED") problems.push(`${request.url()}: ${why}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400 && !isIcon(response.url())) problems.push(`${response.url()}: status ${response.status()}`);
  });
  return problems;
}

// isIcon reports whether the URL is that of the icon, which browsers request for every page.
function isIcon(url) {
  return url.endsWith("/favicon.ico");
}

// isDone runs in the page. It reports whether all layers and visible chunks are loaded, or
// a layer has failed.
function isDone() {
  const layers = window.viewer?.layerManager.managedLayers ?? [];
  const failed = layers.some(({ layer }) => layer?.dataSources.some((source) => source.loadState?.error));
  return failed || (layers.length > 0 && window.viewer.isReady());
}

// read runs in the page. It reads the canvas in the same task that draws it: later, WebGL
// may have cleared it.
function read(points) {
  const { viewer } = window;
  const middle = viewer.navigationState.position.value;
  // The first layer of an image or a segmentation that is drawn is that of its cross sections.
  const valueAt = (layer, point) => String(layer.renderLayers[0].getValueAt(Float32Array.from(middle, (x, i) => x + point[i])));
  viewer.display.draw();
  const { canvas } = viewer.display;
  const corner = canvas.getBoundingClientRect();
  const panel = document.querySelector(".neuroglancer-rendered-data-panel"); // the first
  const { left, top } = panel.getBoundingClientRect();
  const layers = viewer.layerManager.managedLayers;
  const failures = layers.flatMap(({ layer }) => layer.dataSources.map((source) => source.loadState?.error)).filter(Boolean);
  return {
    png: canvas.toDataURL("image/png").split(",")[1],
    // without the border
    panel: { left: left - corner.left + panel.clientLeft, top: top - corner.top + panel.clientTop, width: panel.clientWidth, height: panel.clientHeight },
    layers: layers.map((layer) => layer.name),
    // 64-bit integers are strings.
    state: JSON.parse(JSON.stringify(viewer.state.toJSON(), (_, value) => (typeof value === "bigint" ? String(value) : value))),
    values: points.length ? layers.map(({ layer }) => points.map((point) => valueAt(layer, point))) : [],
    messages: failures.map((error) => `the layer: ${error.message}`),
  };
}
