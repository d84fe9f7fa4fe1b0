// The page, its chat and its recording in a real browser.
// Usage: page.test.mjs PROGRAM MODELS VIEWER TEXT_MODEL
// Without a browser it says so and ends with 77. PAGE_SHOTS=folder keeps screenshots.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [program, onnxModels, viewer, textModel] = process.argv.slice(2);
const skip = (why) => {
  console.log(`SKIPPED: ${why}`);
  process.exit(77);
};
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
if (!existsSync(executablePath)) skip(`no browser ${executablePath}`);
let chromium;
try {
  chromium = createRequire(new URL("../../../observe/viewer/", import.meta.url))("playwright-core").chromium;
} catch {
  skip("no playwright-core in observe/viewer (scripts/setup.sh viewer installs it)");
}

const models = mkdtempSync(join(tmpdir(), "polychron-page-"));
for (const file of readdirSync(onnxModels)) copyFileSync(join(onnxModels, file), join(models, file));
copyFileSync(textModel, join(models, "tiny.gguf"));
const server = spawn(program, [models, "--http", "0", "--record", "16777216", "--viewer", viewer]);
process.on("exit", () => {
  server.kill("SIGKILL");
  rmSync(models, { recursive: true });
});
const ended = new Promise((resolve) => server.on("exit", resolve));
let base;
for await (const line of createInterface(server.stderr)) {
  base = line.match(/serving (http:\S+)/)?.[1] ?? base;
  if (base) break;
}
const ready = async () => (await fetch(`${base}/v2/health/ready`)).ok;
while (!(await ready()));
const row = { datatype: "INT32", shape: [1, 16], data: Array(16).fill(1) };
const infer = async (inputs) =>
  (await fetch(`${base}/v2/models/simple/infer`, { method: "POST", body: JSON.stringify({ inputs }) })).status;
for (let i = 0; i < 50; ++i)
  assert.equal(await infer([{ name: "INPUT0", ...row }, { name: "INPUT1", ...row }]), 200);
assert.equal(await infer([]), 400);

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const problems = [];
const open = async (options) => {
  const context = await browser.newContext(options);
  context.on("page", (page) => {
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  });
  return context;
};
const shot = async (page, name) => {
  if (process.env.PAGE_SHOTS) await page.screenshot({ path: join(process.env.PAGE_SHOTS, `${name}.png`) });
};
for (const [name, options] of Object.entries({
  light: { viewport: { width: 1280, height: 800 } },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: "dark" },
  phone: { viewport: { width: 360, height: 740 }, isMobile: true },
})) {
  const context = await open(options);
  const page = await context.newPage();
  await page.goto(base);
  await page.getByRole("heading", { name: "simple version 1" }).waitFor();
  await page.getByText("input 'INPUT0' is missing").waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("hello");
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator("#said .user", { hasText: "hello" }).waitFor();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });
  assert.notEqual(await page.locator("#said .assistant").textContent(), "…");
  assert.equal(await page.locator("#said .bad").count(), 0);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${name}: ${wide} pixels do not fit`);
  await shot(page, name);
  const [trace] = await Promise.all([
    context.waitForEvent("page"),
    page.getByRole("link", { name: "View the recording" }).click(),
  ]);
  await trace.waitForSelector("body.ready", { timeout: 60000 });
  const text = await trace.evaluate(() => document.body.textContent);
  assert.match(text, /simple/, "the recording names the model's context");
  await shot(trace, `${name}-recording`);
  await context.close();
}
await browser.close();
assert.deepEqual(problems, []);
server.kill("SIGTERM");
assert.equal(await ended, 0);
console.log("the page, its chat and its recording: light, dark, phone");
