// Pages as the tool makes them, of real recordings: the OCR demo's, a schedule of the stress tool's
// in which a dispatch fails, two schedules of one program, and 200,000 events of a benchmark. Each
// loads, draws, answers search, clicks and keys, follows a ticket and is stepped. Where the tool is
// not there, so do pages of generated data.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { app, close, launch, open, pageOf, press, settle, shoot } from "./browser.mjs";
import { scheduleTrace, serverTrace } from "./generate.mjs";
import { apart, pixels, rgb } from "./png.mjs";
import { call, missing, model, models, picture, record, token, view } from "./tool.mjs";

before(launch);
after(close);

/** What the tool makes, or if it cannot, generated data; the test says so. */
function made(t, files, make, name, generated) {
  const lacking = missing(...files);
  if (lacking === "") return make();
  t.diagnostic(`generated data, as there is no ${lacking}`);
  const data = generated();
  return { url: pageOf(`real-${name}`, data), data };
}

/** All that one does with a page, once; `word` is searched for. */
async function use(page, data, word) {
  const count = data.schedule.events.length;
  await page.fill("#search", word);
  await page.keyboard.press("Enter");
  await settle(page);
  assert.match(await page.locator("#hits").textContent(), /^[\d,]+ of [\d,]+$/);
  const found = await app(page, "app.scene.selection.item");
  // It is in sight, in its colour, and a click on it selects it.
  const place = await page.evaluate((item) => {
    const { app } = window.polychron;
    const stage = app.panes[0].stage.getBoundingClientRect();
    const box = app.panes[0].box(item);
    const shade = app.scene.theme.shades[app.panes[0].items.shade[item]];
    return { x: stage.x + box.x, y: stage.y + box.y, width: box.width, shade, bottom: stage.bottom };
  }, found);
  assert.ok(place.x > 0 && place.x < 1280 && place.y > 90 && place.y < place.bottom, "in sight");
  await press(page, "Escape");
  await page.click("#title"); // keys are the page's again
  await press(page, "Escape");
  assert.equal(await app(page, "app.scene.selection"), null);
  await page.mouse.click(place.x + Math.min(4, place.width / 2), place.y + 8);
  await settle(page);
  assert.notEqual(await app(page, "app.scene.selection"), null, "a click selects");
  assert.ok(await page.locator(".details h2").textContent());
  // Its ticket through all actors.
  await page.evaluate((item) => window.polychron.app.selectEvent(0, item), found);
  if (data.events.ticket[found] > 0) {
    await press(page, "t");
    assert.ok((await app(page, "app.scene.followed.items.size")) > 1, "more than one event");
    await press(page, "Escape");
  }
  // Forwards and backwards, in the order of their begin.
  await page.evaluate(() => window.polychron.app.goToStep(0));
  let before = -1;
  for (let i = 0; i < Math.min(12, count - 1); ++i) {
    const begin = await app(page, "app.panes[0].steps.begin(app.scene.step)");
    assert.ok(begin >= before, "steps follow each other");
    before = begin;
    await page.keyboard.press("n");
  }
  await press(page, "p");
  const at = Math.min(12, count - 1) - 1;
  assert.equal(await app(page, "app.scene.step"), at);
  assert.equal(await app(page, "app.scene.selection.item"), data.schedule.events[at]);
  assert.equal(await page.locator(".where").textContent(), `step ${at + 1} of ${count}`);
  const x = await app(page, "app.panes[0].box(app.scene.selection.item).x");
  assert.ok(x >= 0 && x < (await app(page, "app.panes[0].width")), "the step is in sight");
}

/** Rectangles that are drawn are seen: those of these kinds, in their colours. */
async function seen(page, name, ...kinds) {
  await press(page, "x");
  await press(page, "x"); // without arrows, which cross what is measured
  const picture = pixels(await shoot(page, name));
  const places = await page.evaluate((wanted) => {
    const { app } = window.polychron;
    const [pane] = app.panes;
    const stage = pane.stage.getBoundingClientRect();
    const found = [];
    for (let i = 0; i < pane.trace.events.count && found.length < 200; ++i) {
      const box = wanted.includes(pane.trace.events.kind[i]) && pane.box(i);
      if (!box || box.width < 8 || box.x < 0 || box.x + 6 > stage.width) continue;
      if (box.y < 0 || box.y + box.height > stage.height) continue;
      const shade = app.scene.theme.shades[pane.items.shade[i]];
      found.push({ x: stage.x + box.x + 3, y: stage.y + box.y + 1, shade });
    }
    return found;
  }, kinds);
  await press(page, "x");
  const right = places.filter(({ x, y, shade }) => apart(picture.at(x, y), rgb(shade)) <= 12);
  // A mark may lie on the corner of one or the other.
  assert.ok(right.length >= places.length * 0.8, `${right.length} of ${places.length} are drawn`);
  return places.length;
}

test("the OCR demo's recording", async (t) => {
  const { url, data } = made(
    t,
    [picture, models],
    () => view(record("ocr", "polychron-ocr", picture, "--models", models)),
    "ocr",
    () => serverTrace({ events: 6000 }),
  );
  const { page, problems, end } = await open(url, { reducedMotion: "reduce" });
  await shoot(page, "ocr");
  assert.equal(await page.locator("#tab-errors").textContent(), "Errors 0");
  const run = data.strings.includes("compute") ? "compute" : "dispatch"; // generated data dispatch
  await use(page, data, run);
  // Some run with its steps.
  await page.fill("#search", `${run} lane`);
  await page.keyboard.press("Enter");
  await page.click("#title");
  await press(page, "z");
  await page.click("#tab-details");
  assert.ok((await seen(page, "ocr-dispatch", 3)) > 2, "steps of its plan are in sight");
  assert.deepEqual(problems, []);
  await end();
});

/** Two clients: one writes and has computed, the other reads; the first dispatch fails. */
const program = {
  lanes: 2,
  faults: [{ point: 5, nth: 1, kind: 5, inherent: false, throws: false, context: 0 }],
  clients: [
    [
      call("write", { tensor: 0, value: 5 }),
      call("dispatch", { inputs: [0], tensor: 1 }),
      call("dispatch", { inputs: [1], tensor: 2 }),
      call("read", { tensor: 2 }),
    ],
    [call("write", { tensor: 0, value: 7 }), call("read", { tensor: 1 })],
  ],
};

/** Recordings of two schedules: at some step, not the first, the second does what else could be. */
function twoSchedules() {
  const first = record("first", "stress", "--replay", token(program, []));
  for (let step = 60; step < 100; ++step)
    try {
      const other = [...Array(step).fill(0), 1];
      return [first, record("second", "stress", "--replay", token(program, other))];
    } catch (error) {
      if (!/another world's/.test(error.message)) throw error; // there was but one thing to do
    }
  throw new Error("no step had a choice");
}

test("a schedule of the stress tool's in which a dispatch fails", async (t) => {
  const { url, data } = made(
    t,
    [],
    () => view(record("failing", "stress", "--replay", token(program, []))),
    "failing",
    () => serverTrace({ events: 700, errors: 2, seed: 3 }),
  );
  const { page, problems, end } = await open(url, { reducedMotion: "reduce" });
  await shoot(page, "stress");
  assert.match(await page.locator("#tab-errors").textContent(), /^Errors [1-9]/);
  await use(page, data, "dispatch");
  await shoot(page, "stress-step");
  await page.click("#tab-errors");
  await page.locator("#body-errors .row").first().click();
  await settle(page);
  assert.match(await page.locator("pre.error").first().textContent(), /out.of.memory/);
  await shoot(page, "stress-error");
  await press(page, "z");
  assert.ok((await seen(page, "stress-near", 1, 2, 5)) > 0);
  // All of it, one after the other.
  await page.evaluate(() => window.polychron.app.goToStep(0));
  for (let i = 1; i < Math.min(100, data.schedule.events.length); ++i) {
    await page.keyboard.press("n");
    assert.equal(await app(page, "app.scene.selection.item"), data.schedule.events[i]);
  }
  assert.deepEqual(problems, []);
  await end();
});

test("two schedules of one program side by side", async (t) => {
  const { url, data } = made(
    t,
    [],
    () => view(...twoSchedules()),
    "two",
    () => ({ ...scheduleTrace({ seed: 2, after: 10 }), other: scheduleTrace({ seed: 3, after: 10 }) }),
  );
  const { page, problems, end } = await open(url, { reducedMotion: "reduce" });
  const text = (of, step) => {
    const { name, label, ticket, actor } = of.events;
    const at = of.schedule.events[step];
    const strings = [name[at], label[at], of.actors[actor[at]].kind].map((one) => of.strings[one]);
    return [...strings, ticket[at]].join(" ");
  };
  const difference = await app(page, "app.scene.difference");
  assert.ok(difference > 0, `they begin alike and differ at ${difference}`);
  for (let i = 0; i < difference; ++i) assert.equal(text(data, i), text(data.other, i));
  await press(page, "g");
  assert.equal(await app(page, "app.scene.step"), difference);
  assert.ok(await page.locator(".row.different.current").isVisible());
  const places = await app(page, "app.panes.map((p) => p.box(p.steps.event(app.scene.step)))");
  assert.ok(Math.abs(places[0].x - places[1].x) < 1, "the same step stands at the same place");
  await shoot(page, "stress-two");
  for (const key of ["n", "n", "n", "p"]) await press(page, key);
  const [a, b] = await app(page, "app.panes.map((p) => p.box(p.steps.event(app.scene.step)))");
  assert.ok(Math.abs(a.x - b.x) < 1, "and so does every other");
  await shoot(page, "stress-two-later");
  assert.deepEqual(problems, []);
  await end();
});

test("200,000 events of a benchmark", async (t) => {
  const least = 200_000;
  const { url, data } = made(
    t,
    [model],
    () => {
      let made;
      for (let seconds = 1; !made || made.data.events.kind.length < least; seconds *= 2)
        made = view(record("bench", "bench", model, "--seconds", String(seconds)));
      return made;
    },
    "bench",
    () => serverTrace({ events: least }),
  );
  t.diagnostic(`${data.events.kind.length} events`);
  const begun = performance.now();
  const { page, problems, end } = await open(url, { reducedMotion: "reduce" });
  t.diagnostic(`open after ${(performance.now() - begun).toFixed(0)} ms`);
  await shoot(page, "bench");
  await page.evaluate(async () => {
    const { app, frames, drawing } = window.polychron;
    frames.length = drawing.length = 0;
    app.held = () => true;
    for (let i = 0; i < 120; ++i) {
      if (i % 60 < 30) app.view.zoom(0.85, app.view.first + (app.view.last - app.view.first) * 0.4);
      else if (i % 60 < 40) app.view.pan(0.03);
      else app.view.zoom(1.3);
      await new Promise(requestAnimationFrame);
    }
    app.held = null;
  });
  for (const [what, list] of await app(
    page,
    "[['apart', window.polychron.frames], ['drawing', window.polychron.drawing]]",
  )) {
    const sorted = [...list].sort((a, b) => a - b);
    const at = (part) => sorted[Math.floor(part * (sorted.length - 1))].toFixed(1);
    t.diagnostic(`frames ${what}: median / 95 % / max ms: ${at(0.5)} / ${at(0.95)} / ${at(1)}`);
  }
  await use(page, data, "lane");
  await shoot(page, "bench-step");
  await page.click("#tab-details");
  await press(page, "0");
  assert.deepEqual(problems, []);
  await end();
});
