// Opens views in Neuroglancer and keeps what is shown. stdin: a JSON list of
//
//   {name, url, link?, artifacts}    link: a selector; what to click on at the url
//
// stdout: for each a line {screenshot, canvas, panel: {left, top, width, height},
// layers, problems}. canvas is a PNG of the pixels that WebGL drew, without the rest
// of the page; panel is where the first cross section lies in it.
import { writeFile } from "node:fs/promises";
import { json } from "node:stream/consumers";
import { chromium } from "playwright-core";

const deadline = 60_000; // ms, for a view until all its chunks are there

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  // No sandbox for root; and WebGL by the processor alone.
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});
for (const view of await json(process.stdin)) {
  console.log(JSON.stringify(await show(view).catch((error) => ({ problems: [String(error)] }))));
}
await browser.close();

async function show({ name, url, link, artifacts }) {
  const page = await browser.newPage({ viewport: { width: 700, height: 600 } });
  const problems = watch(page);
  const screenshot = `${artifacts}/${name}.png`;
  const canvas = `${artifacts}/${name}.canvas.png`;
  try {
    await page.goto(url);
    if (link) await page.click(link);
    await page.waitForFunction(ended, null, { timeout: deadline });
    const shown = await page.evaluate(read);
    await writeFile(canvas, Buffer.from(shown.png, "base64"));
    return { screenshot, canvas, panel: shown.panel, layers: shown.layers, problems: [...problems, ...shown.messages] };
  } catch (error) {
    return { screenshot, problems: [...problems, String(error)] };
  } finally {
    await page.screenshot({ path: screenshot });
    await page.close();
  }
}

// watch collects what the page complains of, and the replies that are not.
function watch(page) {
  const problems = [];
  page.on("pageerror", (error) => problems.push(`the page: ${error}`));
  page.on("console", (message) => {
    const { url } = message.location();
    if (message.type() === "error" && !icon(url)) problems.push(`the page: ${message.text()} ${url}`);
  });
  page.on("requestfailed", (request) => {
    const why = request.failure().errorText;
    // What the page no longer wants to show it gives up itself.
    if (why !== "net::ERR_ABORTED") problems.push(`${request.url()}: ${why}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400 && !icon(response.url())) problems.push(`${response.url()}: status ${response.status()}`);
  });
  return problems;
}

// icon is what a browser asks for without being told.
function icon(url) {
  return url.endsWith("/favicon.ico");
}

// ended runs in the page: every layer and every visible chunk is there, or one cannot
// be had.
function ended() {
  const layers = window.viewer?.layerManager.managedLayers ?? [];
  const failed = layers.some(({ layer }) => layer?.dataSources.some((source) => source.loadState?.error));
  return failed || (layers.length > 0 && window.viewer.isReady());
}

// read runs in the page. The canvas is read in the turn in which it was drawn: later,
// WebGL may have dropped it.
function read() {
  const { viewer } = window;
  viewer.display.draw();
  const { canvas } = viewer.display;
  const corner = canvas.getBoundingClientRect();
  const panel = document.querySelector(".neuroglancer-rendered-data-panel"); // the first
  const { left, top } = panel.getBoundingClientRect();
  const layers = viewer.layerManager.managedLayers;
  const failures = layers.flatMap(({ layer }) => layer.dataSources.map((source) => source.loadState?.error)).filter(Boolean);
  return {
    png: canvas.toDataURL("image/png").split(",")[1],
    // Without its border.
    panel: { left: left - corner.left + panel.clientLeft, top: top - corner.top + panel.clientTop, width: panel.clientWidth, height: panel.clientHeight },
    layers: layers.map((layer) => layer.name),
    messages: failures.map((error) => `the layer: ${error.message}`),
  };
}
