// What nobody made on purpose: traces of nothing, of one thing, of far too much of one thing, with
// texts that are long or no texts at all. The page says what is wrong or shows what there is.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { app, close, launch, open, pageOf, press, settle, shoot } from "./browser.mjs";
import { Maker, serverTrace } from "./generate.mjs";

before(launch);
after(close);

/** Every key and tab once; nothing may complain, nothing may stick out. */
async function useAll(page) {
  for (const key of ["n", "n", "p", "g", ".", ",", "c", "e", "t", "Escape", "z", "x", "o", "o"])
    await page.keyboard.press(key);
  for (const key of ["w", "w", "s", "0", "ArrowDown", "PageDown", "PageUp", "l", "l"])
    await press(page, key);
  for (const tab of ["details", "steps", "errors", "lints"]) {
    const button = page.locator(`#tab-${tab}`);
    if ((await button.count()) > 0) await button.click();
  }
  await page.mouse.move(500, 300);
  await page.mouse.click(500, 110);
  await page.mouse.dblclick(400, 200);
  await page.fill("#search", "a");
  await page.keyboard.press("Enter");
  await page.fill("#search", "");
  await settle(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 1280, `the page is ${wide} pixels wide`);
  const span = await app(page, "app.view.span");
  assert.ok(span > 0 && Number.isFinite(span), `${span} is in sight`);
}

/** A context that handles what a caller calls, all with these texts. */
function told(text, count = 1) {
  const maker = new Maker(text || "title");
  const context = maker.context(text);
  const caller = maker.actor("caller", text, "callers", -1);
  const actor = maker.actor("context", text, "content", context);
  const lane = maker.actor("device", text, "device", context);
  const steps = [];
  for (let i = 0; i < count; ++i) {
    const more = { name: text, label: text, object: text, detail: text, error: text, ticket: i + 1 };
    const call = maker.event({ kind: 0, actor: caller, begin: 100 * i, ...more });
    const at = { begin: 100 * i + 20, duration: 30, cause: call };
    const handling = maker.event({ kind: 1, actor, ...at, ...more });
    maker.message(call, handling, caller, actor, 100 * i, 100 * i + 20, text, i + 1);
    const begin = 100 * i + 60;
    maker.wait({ actor: lane, begin, end: begin + 20, ticket: i + 1, text, event: handling });
    maker.lint(text, handling);
    steps.push(call, handling);
  }
  maker.schedule = { events: steps, verdict: text };
  maker.page.counters.push({ name: text, unit: "", context, time: [0, 50], value: [1, 2] });
  return maker.finish();
}

const texts = {
  long: "x".repeat(200_000),
  words: "word ".repeat(40_000),
  lines: "line\n".repeat(2000),
  markup: "</script><script>document.title='owned'</script><b>&lt;",
  backwards: "\u202edrawkcab \u0007\u0000\ud800 \u{1f9a6}",
  none: "",
};

for (const [name, text] of Object.entries(texts))
  test(`texts: ${name}`, async () => {
    const { page, problems, end } = await open(pageOf(`text-${name}`, told(text, 3)));
    await useAll(page);
    assert.doesNotMatch(await page.title(), /^owned/);
    await page.click("#tab-steps");
    await press(page, "n");
    for (const part of ["button[aria-label='next step']", ".steps-tab .row.current"]) {
      const box = await page.locator(part).boundingBox();
      assert.ok(box.y >= 0 && box.y + box.height <= 720, `${part} is at ${box.y}`);
    }
    await shoot(page, `text-${name}`);
    assert.deepEqual(problems, []);
    await end();
  });

const one = new Maker("one.trace");
one.event({ kind: 1, actor: one.actor("context", "c", "content", one.context("c")), begin: 7 });
one.schedule = { events: [...one.events], verdict: "" };

const nothing = new Maker("nothing.trace");
const silent = new Maker("silent.trace");
silent.actor("context", "", "content", silent.context(""));

for (const [name, data] of [
  ["nothing", nothing.finish()],
  ["silent", silent.finish()],
  ["one", one.finish()],
  ["one-twice", { ...one.finish(), other: one.finish() }],
  ["nothing-twice", { ...nothing.finish(), other: nothing.finish() }],
  ["nothing-and-much", { ...nothing.finish(), other: serverTrace({ events: 400 }) }],
  ["much-and-nothing", { ...serverTrace({ events: 400 }), other: nothing.finish() }],
])
  test(`little: ${name}`, async () => {
    const { page, problems, end } = await open(pageOf(name, data));
    await useAll(page);
    await page.click("#tab-details");
    await press(page, "Escape");
    await shoot(page, name);
    assert.deepEqual(problems, []);
    await end();
  });

test("one context of 5,000 tensors that all live to the end", async () => {
  const maker = new Maker("tensors.trace");
  const context = maker.context("c");
  const actor = maker.actor("context", "c", "content", context);
  const steps = [];
  for (let i = 0; i < 5000; ++i) {
    const tensor = maker.actor("tensor", `t${i}`, "content", context, { start: i * 1000 });
    const made = maker.event({ kind: 1, actor, begin: i * 1000, duration: 300, name: "create" });
    const at = { begin: i * 1000 + 500, duration: 200, name: "began", cause: made };
    const heard = maker.event({ kind: 1, actor: tensor, ...at });
    maker.message(made, heard, actor, tensor, i * 1000 + 200, i * 1000 + 500, "begin");
    steps.push(made, heard);
  }
  maker.schedule = { events: steps, verdict: "" };
  const { page, problems, end } = await open(pageOf("tensors", maker.finish()));
  await useAll(page);
  await press(page, "0");
  await press(page, "o");
  assert.ok((await app(page, "app.panes[0].sheet.rows.length")) > 5000, "each has a track");
  assert.ok((await page.locator(".label").count()) < 60, "of which those in sight are in the page");
  await page.fill("#search", "t4999");
  await page.keyboard.press("Enter");
  await settle(page);
  const y = await app(page, "app.panes[0].box(app.scene.selection.item).y");
  assert.ok(y >= 0 && y < (await app(page, "app.panes[0].height")), `found out of sight: ${y}`);
  await shoot(page, "tensors");
  assert.deepEqual(problems, []);
  await end();
});

test("numbers that no clock gives are told or bounded", async () => {
  const huge = told("x", 3);
  huge.events.begin = huge.events.begin.map((begin, i) => (i === 5 ? 2 ** 62 : begin));
  const { page, problems, end } = await open(pageOf("huge", huge));
  await useAll(page);
  await shoot(page, "huge");
  assert.deepEqual(problems, []);
  await end();
  const negative = told("x", 3);
  negative.events.duration[1] = -5;
  const wrong = await open(pageOf("negative", negative), { ready: ".wrong" });
  assert.match(await wrong.page.locator("#wrong").textContent(), /events\.duration\[1\] is -5/);
  await wrong.end();
});
