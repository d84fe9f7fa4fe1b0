// Debian's chromium for the tests: opens pages with a trace in them from disk, and says what went
// wrong.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { pack } from "./generate.mjs";

const built = readFileSync(fileURLToPath(new URL("../page.html", import.meta.url)), "utf8");
const folder = mkdtempSync(join(tmpdir(), "viewer-"));
export const shots = process.env.VIEWER_SHOTS ?? join(folder, "shots");
mkdirSync(shots, { recursive: true });

process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

let browser;

export async function launch() {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    // Without a graphics card: the same on every machine, and the slowest that anybody has.
    args: ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"],
  });
  return browser;
}

export const close = () => browser.close();

/** The file of a page with a trace in it, as `polychron trace view` makes it. */
export function pageOf(name, data) {
  const text = typeof data === "string" ? data : pack(data);
  const file = join(folder, `${name}.html`);
  writeFileSync(
    file,
    built.replace("@TRACE@", () => text),
  );
  return pathToFileURL(file).href;
}

/** Opens a page; `problems` has what the page complained about (what its policy stops,
 * too) and every answer that it got but itself. */
export async function open(url, options = {}) {
  const { hash = "", ready = ".ready", ...rest } = options;
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...rest });
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("response", (response) => {
    if (!response.url().startsWith(url)) problems.push(`asked for ${response.url()}`);
  });
  await page.goto(url + hash);
  await page.waitForSelector(`body${ready}`, { timeout: 60000 });
  await settle(page);
  return { page, problems, end: () => context.close() };
}

/** Until what was asked for is drawn. */
export async function settle(page) {
  await page.evaluate(
    () =>
      new Promise((done) => {
        let calm = 0;
        let before = "";
        const look = () => {
          const view = window.polychron?.app.view;
          const now = view ? `${view.t0} ${view.t1}` : "";
          calm = now === before ? calm + 1 : 0;
          before = now;
          if (calm > 3) done();
          else requestAnimationFrame(look);
        };
        look();
      }),
  );
}

/** An expression about the page's app. */
export const app = (page, what) =>
  page.evaluate(`(() => { const app = window.polychron.app; return ${what}; })()`);

export async function press(page, key) {
  await page.keyboard.press(key);
  await settle(page);
}

export async function shoot(page, name) {
  return page.screenshot({ path: join(shots, `${name}.png`) });
}
