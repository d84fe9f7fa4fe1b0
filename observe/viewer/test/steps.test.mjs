// Step by step: forwards, backwards, two runs side by side; those of the stress tool, whose clock
// counts steps, and those of real time.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { app, close, launch, open, pageOf, press, settle, shoot } from "./browser.mjs";
import { Maker, scheduleTrace, serverTrace } from "./generate.mjs";
import { apart, pixels, rgb } from "./png.mjs";

before(launch);
after(close);

const first = scheduleTrace({ seed: 2, after: 10 });
const second = scheduleTrace({ seed: 3, after: 10 });

test("a schedule is stepped forwards and backwards", async () => {
  const { page, problems, end } = await open(pageOf("schedule", first));
  assert.match(await page.locator(".verdict").textContent(), /lost update/);
  for (let i = 0; i < 13; ++i) await press(page, "n");
  assert.equal(await page.locator(".where").textContent(), "step 12 of 40");
  await press(page, "p");
  assert.equal(await page.locator(".where").textContent(), "step 11 of 40");
  await page.click("button[aria-label='next step']");
  await page.click("button[aria-label='previous step']");
  await settle(page);
  const pending = first.messages.sent.filter(
    (sent, i) => sent <= 11 && (first.messages.received[i] < 0 || first.messages.received[i] > 11),
  ).length;
  assert.ok(pending > 0);
  assert.match(
    await page.locator(".now").textContent(),
    new RegExp(`Not delivered yet: ${pending}`),
  );
  assert.equal(await page.locator(".pending li").count(), pending);
  assert.match(await page.locator("[aria-current=true]").textContent(), /^11 /);
  const picture = pixels(await shoot(page, "schedule"));
  const at = await page.evaluate(() => {
    const { panes, scene } = window.polychron.app;
    const stage = panes[0].stage.getBoundingClientRect();
    const box = panes[0].box(panes[0].steps.event(scene.step));
    return { x: stage.x + box.x + box.width / 2, y: stage.bottom - 10 };
  });
  assert.ok(apart(picture.at(at.x, at.y), rgb("#ffffff")) > 15, "its column is marked");
  await page.click("button[aria-label='last step']");
  await press(page, "n");
  assert.equal(await page.locator(".where").textContent(), "step 39 of 40");
  await page.locator(".steps-tab .row").last().click();
  assert.deepEqual(problems, []);
  await end();
});

test("two schedules: aligned, the first difference marked", async () => {
  const { page, problems, end } = await open(pageOf("two", { ...first, other: second }));
  const difference = await app(page, "app.scene.difference");
  assert.ok(difference >= 10);
  assert.equal(
    await page.locator(".difference").textContent(),
    `first difference: step ${difference}`,
  );
  await press(page, "g");
  assert.equal(await page.locator(".where").textContent(), `step ${difference} of 40`);
  const row = page.locator(".row.different");
  const [left, right] = await row.locator("span").allTextContents();
  assert.notEqual(left.replace(/^\d+ +/, ""), right);
  const places = await page.evaluate(() => {
    const { panes, scene } = window.polychron.app;
    return panes.map((pane) => {
      const stage = pane.stage.getBoundingClientRect();
      const box = pane.box(pane.steps.event(scene.step));
      return { x: stage.x + box.x, top: stage.y, bottom: stage.bottom, y: stage.y + box.y };
    });
  });
  assert.ok(Math.abs(places[0].x - places[1].x) < 1, "the same step stands at the same place");
  assert.ok(places[0].bottom <= places[1].top, "one above the other");
  for (const place of places) assert.ok(place.y > place.top && place.y < place.bottom, "in sight");
  await shoot(page, "two-schedules");
  await page.locator(".difference").click();
  assert.deepEqual(problems, []);
  await end();
});

test("a run in real time is stepped as well, and a click shows details as ever", async () => {
  const data = serverTrace({ events: 700, errors: 2, seed: 3 });
  const count = data.schedule.events.length;
  const { page, problems, end } = await open(pageOf("real-steps", data));
  assert.equal(await page.getAttribute("#tab-details", "aria-selected"), "true");
  await press(page, "n");
  assert.equal(await page.getAttribute("#tab-steps", "aria-selected"), "true");
  for (let i = 0; i < 30; ++i) await page.keyboard.press("n");
  await settle(page);
  assert.equal(await page.locator(".where").textContent(), `step 31 of ${count}`);
  const [step, event, done] = await page.evaluate(() => {
    const { panes, scene } = window.polychron.app;
    const event = panes[0].steps.event(scene.step);
    return [scene.step, event, panes[0].trace.events.end[event]];
  });
  assert.equal(event, data.schedule.events[step]);
  assert.equal(await app(page, "app.scene.selection.item"), event);
  const pending = data.messages.sent.filter(
    (sent, i) => sent <= done && !(data.messages.received[i] <= done),
  ).length;
  const said = await page.locator(".now").textContent();
  assert.match(said, pending ? new RegExp(`Not delivered yet: ${pending}`) : /All is delivered/);
  assert.match(said, /at [\d.]+ µs/);
  await shoot(page, "real-steps");
  await press(page, "p");
  assert.equal(await page.locator(".where").textContent(), `step 30 of ${count}`);
  await page.click("#tab-details");
  assert.equal(await app(page, "app.scene.stepping"), false, "its column goes with the tab");
  await press(page, "z");
  assert.match(await page.locator(".details .badge").first().textContent(), /call|handling/);
  assert.deepEqual(problems, []);
  await end();
});

/** Two clients whose messages a context handles, `slower` times as slow, in the order of `order`. */
function meeting(title, order, slower) {
  const maker = new Maker(title);
  const context = maker.context("c");
  const client = maker.actor("caller", "thread 1", "callers", -1);
  const actor = maker.actor("context", "c", "content", context);
  const all = order.map((name, i) => {
    const begin = (i + 1) * 1000 * slower;
    const call = maker.event({ kind: 0, actor: client, begin: 10 * i, name });
    const more = { duration: 500 * slower, name, cause: call };
    const handling = maker.event({ kind: 1, actor, begin, ...more });
    maker.message(call, handling, client, actor, 10 * i, begin, name);
    return { call, handling };
  });
  const steps = [...all.map((one) => one.call), ...all.map((one) => one.handling)];
  maker.schedule = { events: steps, verdict: "" };
  return maker.finish();
}

test("two runs in real time: a step of both stands at one place, whatever its time", async () => {
  const names = ["a", "b", "c", "d"];
  const calls = meeting("quick.trace", names, 1);
  const other = meeting("slow.trace", names, 40);
  // The same calls, but the context handled the third message first.
  const at = other.schedule.events;
  [other.events.name[at[6]], other.events.name[at[4]]] = [
    other.events.name[at[4]],
    other.events.name[at[6]],
  ];
  const { page, problems, end } = await open(pageOf("two-real", { ...calls, other }));
  assert.equal(await page.getAttribute("#tab-steps", "aria-selected"), "true");
  assert.equal(await page.locator(".difference").textContent(), "first difference: step 5");
  await press(page, "g");
  const places = () =>
    page.evaluate(() => {
      const { panes, scene } = window.polychron.app;
      return panes.map((pane) => pane.box(pane.steps.event(scene.step)).x);
    });
  for (const key of ["g", "n", "n", "p"]) {
    await press(page, key);
    const [a, b] = await places();
    assert.ok(Math.abs(a - b) < 1, `${key}: at ${a} and ${b}`);
    const width = await app(page, "app.panes[0].width");
    assert.ok(a >= 0 && a < width, `${key}: in sight, ${a} of ${width}`);
  }
  const caption = await page.locator(".caption").nth(1).textContent();
  assert.match(caption, /^slow\.trace, shown \d+ µs earlier$/);
  await shoot(page, "two-real");
  // What is selected in the second is in sight where it stands.
  await page.evaluate(() => {
    const { panes } = window.polychron.app;
    window.polychron.app.selectEvent(1, panes[1].steps.event(7));
  });
  await settle(page);
  const box = await app(page, "app.panes[1].box(app.scene.selection.item)");
  const wide = await app(page, "app.panes[1].width");
  assert.ok(box.x >= 0 && box.x < wide, `at ${box.x}`);
  assert.deepEqual(problems, []);
  await end();
});

test("two runs, one of which is empty, or ends early", async () => {
  const empty = new Maker("empty.trace").finish();
  empty.schedule = { events: [], verdict: 0 };
  for (const [name, data] of [
    ["empty-other", { ...first, other: empty }],
    ["empty-first", { ...empty, clock: "step", other: second }],
  ]) {
    const { page, problems, end } = await open(pageOf(name, data));
    assert.equal(await page.locator(".difference").textContent(), "first difference: step 0");
    await press(page, "g");
    await press(page, "n");
    assert.equal(await page.locator(".where").textContent(), "step 1 of 40");
    assert.match(await page.locator(".row.current").textContent(), /\(over\)/);
    await shoot(page, name);
    assert.deepEqual(problems, []);
    await end();
  }
});
