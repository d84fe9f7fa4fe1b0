// Using the page: keyboard alone, a phone, and a large trace, of which the frame times are printed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { app, close, launch, open, pageOf, press, settle, shoot } from "./browser.mjs";
import { serverTrace } from "./generate.mjs";

before(launch);
after(close);

const failing = serverTrace({ events: 700, errors: 2, seed: 3 });

test("the keyboard moves, selects, follows and switches", async () => {
  const { page, problems, end } = await open(pageOf("keys", failing), { reducedMotion: "reduce" });
  const span = () => app(page, "app.view.span");
  const begin = () => app(page, "app.view.t0");
  const changes = async (key, read, better) => {
    const old = await read();
    await press(page, key);
    const now = await read();
    assert.ok(better(now, old), `${key}: ${old} -> ${now}`);
  };
  const less = (now, old) => now < old;
  const more = (now, old) => now > old;
  await changes("w", span, less);
  await changes("+", span, less);
  await changes("s", span, more);
  await changes("-", span, more);
  for (let i = 0; i < 6; ++i) await press(page, "w");
  await changes("d", begin, more);
  await changes("ArrowRight", begin, more);
  await changes("a", begin, less);
  await changes("ArrowLeft", begin, less);
  const scroll = () => app(page, "app.panes[0].scroll");
  await changes("ArrowDown", scroll, more);
  await changes("ArrowUp", scroll, less);
  await changes("PageDown", scroll, more);
  await changes("0", span, more);
  const rows = () => app(page, "app.panes[0].sheet.rows.length");
  await changes("o", rows, more);
  await changes("o", rows, less);
  const item = () => app(page, "app.scene.selection?.item ?? -1");
  await changes(".", item, more);
  await changes(".", item, more);
  await changes(",", item, less);
  await changes("e", item, more);
  await changes("c", item, less);
  await changes("z", span, less);
  await press(page, "t");
  assert.ok(await app(page, "app.scene.followed !== null"), "t follows");
  await press(page, "Escape");
  assert.ok(await app(page, "app.scene.followed === null"), "Escape stops following");
  await press(page, "Escape");
  assert.equal(await item(), -1, "Escape selects nothing");
  await press(page, "l");
  assert.equal(await page.getAttribute("html", "data-theme"), "dark");
  await press(page, "x");
  assert.equal(await app(page, "app.scene.arrows"), "all");
  await press(page, "?");
  assert.ok(await page.locator("dialog").isVisible());
  await shoot(page, "help");
  await press(page, "Escape");
  assert.ok(!(await page.locator("dialog").isVisible()));
  assert.deepEqual(problems, []);
  await end();
});

test("Tab reaches all that can be used, each with a name", async () => {
  const { page, end } = await open(pageOf("keys", failing));
  const reached = [];
  for (let i = 0; i < 40; ++i) {
    await page.keyboard.press("Tab");
    const one = await page.evaluate(() => {
      const at = document.activeElement;
      if (!at || at === document.body) return null;
      const name = at.getAttribute("aria-label") ?? at.textContent;
      const box = at.getBoundingClientRect();
      return { id: at.id || at.className, name: name.trim(), wide: box.width, high: box.height };
    });
    if (!one) break;
    assert.ok(one.name.length > 0, `${one.id} has no name`);
    assert.ok(one.wide > 0 && one.high > 0, `${one.id} is not to be seen`);
    reached.push(one.id);
  }
  for (const id of ["search", "fit", "theme", "help", "label group", "stage", "tab-details"])
    assert.ok(reached.includes(id), `${id} is not among ${reached.join(", ")}`);
  await page.focus(".label.group");
  await press(page, "Enter");
  assert.equal(await page.getAttribute(".label.group", "aria-expanded"), "true");
  assert.equal(
    await page.evaluate(() => document.activeElement.getAttribute("aria-expanded")),
    "true",
  );
  await page.focus("#tab-details");
  for (const tab of ["steps", "errors"]) {
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.getAttribute(`#tab-${tab}`, "aria-selected"), "true");
  }
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.ok((await app(page, "app.scene.selection?.item ?? -1")) >= 0, "Enter opens an error");
  await end();
});

test("held keys move until they are let go", async () => {
  const { page, end } = await open(pageOf("keys", failing));
  await page.keyboard.down("w");
  await page.waitForFunction(() => {
    const { view } = window.polychron.app;
    return view.span < (view.last - view.first) / 4;
  });
  await page.keyboard.up("w");
  assert.equal(await app(page, "app.held"), null);
  await end();
});

test("the wheel scrolls tracks and zooms with Ctrl; drag pans; Shift and drag marks", async () => {
  const { page, end } = await open(pageOf("keys", failing), { reducedMotion: "reduce" });
  await page.mouse.move(600, 400);
  await page.mouse.wheel(0, 100);
  await page.waitForFunction(() => window.polychron.app.panes[0].scroll === 100);
  const before = await app(page, "[app.view.span, app.panes[0].timeAt(412, app.view)]");
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -300);
  await page.keyboard.up("Control");
  await page.waitForFunction((span) => window.polychron.app.view.span < span, before[0]);
  const under = await app(page, "app.panes[0].timeAt(412, app.view)");
  assert.ok(
    Math.abs(under - before[1]) < before[0] / 1000,
    "what is under the pointer stays there",
  );
  const t0 = await app(page, "app.view.t0");
  await page.mouse.down();
  await page.mouse.move(500, 400, { steps: 4 });
  await page.mouse.up();
  assert.ok((await app(page, "app.view.t0")) > t0, "dragged to later times");
  const [from, to] = await app(
    page,
    "[app.panes[0].timeAt(212, app.view), app.panes[0].timeAt(312, app.view)]",
  );
  await page.keyboard.down("Shift");
  await page.mouse.move(400, 400);
  await page.mouse.down();
  await page.mouse.move(500, 420, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const shown = await app(page, "[app.view.t0, app.view.t1]");
  const near = (to - from) / 50;
  assert.ok(
    Math.abs(shown[0] - from) < near && Math.abs(shown[1] - to) < near,
    `${shown} for ${[from, to]}`,
  );
  await page.mouse.click(900, 55); // near the end of the overview
  assert.ok((await app(page, "app.view.t0")) > shown[0], "the overview goes there");
  await end();
});

test("a phone: fits, taps, pinches, draws the panel up", async () => {
  const { page, problems, end } = await open(pageOf("phone", failing), {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    deviceScaleFactor: 2,
    reducedMotion: "reduce",
  });
  assert.ok(
    await page.evaluate(() => document.documentElement.scrollWidth <= 390),
    "nothing sticks out",
  );
  await shoot(page, "phone");
  await app(page, "app.view.set(app.view.last * 0.1, app.view.last * 0.2)");
  await settle(page);
  const span = await app(page, "app.view.span");
  const session = await page.context().newCDPSession(page);
  const touch = (type, ...points) =>
    session.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: points.map(([x, y], id) => ({ x, y, id })),
    });
  await touch("touchStart", [200, 400], [300, 400]);
  await touch("touchMove", [180, 400], [320, 400]);
  await touch("touchMove", [150, 400], [350, 400]);
  await touch("touchEnd");
  assert.ok((await app(page, "app.view.span")) < span * 0.7, "a pinch zooms in");
  assert.equal(await app(page, "app.scene.selection"), null, "and selects nothing");
  await app(page, "app.view.set(app.view.last * 0.1, app.view.last * 0.2)");
  await settle(page);
  const place = await page.evaluate(() => {
    const pane = window.polychron.app.panes[0];
    const stage = pane.stage.getBoundingClientRect();
    for (let i = 0; i < pane.trace.events.count; ++i) {
      const box = pane.box(i);
      if (
        pane.trace.events.kind[i] === 2 &&
        box.x > 20 &&
        box.width > 20 &&
        box.x + 30 < stage.width &&
        box.y < stage.height - 40
      )
        return { x: stage.x + box.x + 10, y: stage.y + box.y + 8, event: i };
    }
    return null;
  });
  await page.touchscreen.tap(place.x, place.y);
  await settle(page);
  assert.equal(await app(page, "app.scene.selection.item"), place.event);
  assert.ok(await page.locator(".details h2").isVisible(), "the panel comes up");
  await shoot(page, "phone-selected");
  const small = await page.evaluate(() =>
    [...document.querySelectorAll("button")]
      .filter((one) => one.offsetParent && one.getBoundingClientRect().height < 30)
      .map((one) => one.textContent),
  );
  assert.deepEqual(small, [], "buttons are large enough for a finger");
  await page.tap("#tab-details");
  assert.ok(!(await page.locator(".details h2").isVisible()), "and goes down again");
  assert.deepEqual(problems, []);
  await end();
});

test("200,000 events: opens, searches, and moves; frame times", async () => {
  const data = serverTrace({ events: 200000, errors: 20, tensors: 3000 });
  const url = pageOf("large", data);
  const report = async (name, page) => {
    const times = await page.evaluate(() => [window.polychron.frames, window.polychron.drawing]);
    const line = times.map((list) => {
      const sorted = [...list].sort((a, b) => a - b);
      const at = (part) =>
        sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))].toFixed(1);
      return `${at(0.5)} / ${at(0.95)} / ${at(1)}`;
    });
    console.log(
      `${name}: ${times[0].length} frames, median / 95 % / max ms: ` +
        `apart ${line[0]}, drawing ${line[1]}`,
    );
    return times[0].length;
  };
  // WebGL in software is what the page avoids, and slow: a few frames are enough of it.
  for (const [hash, frames] of [
    ["#canvas", 240],
    ["#webgl", 40],
  ]) {
    const opened = performance.now();
    const { page, problems, end } = await open(url, { hash });
    console.log(`${hash}: open after ${(performance.now() - opened).toFixed(0)} ms`);
    await shoot(page, `large${hash.replace("#", "-")}`);
    // In and out and along, as one does with held keys.
    const most = await page.evaluate(async (count) => {
      const { app, frames, drawing } = window.polychron;
      const frame = () => new Promise(requestAnimationFrame);
      frames.length = drawing.length = 0;
      let most = 0;
      app.held = () => true;
      for (let i = 0; i < count; ++i) {
        if (i % 80 < 40)
          app.view.zoom(0.87, app.view.first + (app.view.last - app.view.first) * 0.37);
        else if (i % 80 < 60) app.view.pan(0.03);
        else app.view.zoom(1.3);
        await frame();
        most = Math.max(most, app.panes[0].drawnRectangles);
      }
      app.held = null;
      return most;
    }, frames);
    assert.ok((await report(`${hash}, groups closed`, page)) >= frames - 10);
    const rows = await app(page, "app.panes[0].items.rows");
    const width = await app(page, "app.panes[0].width");
    console.log(`${hash}: at most ${most} rectangles a frame, ${rows} rows of ${width} pixels`);
    assert.ok(most < 100000, `${most} rectangles in a frame`);
    await press(page, "o");
    await page.evaluate(async (count) => {
      const { app, frames, drawing } = window.polychron;
      frames.length = drawing.length = 0;
      app.held = () => true;
      for (let i = 0; i < count; ++i) {
        app.panes[0].scrollTo(i * 60);
        app.view.zoom(i < count / 2 ? 0.9 : 1.11);
        await new Promise(requestAnimationFrame);
      }
      app.held = null;
    }, frames / 4);
    await report(`${hash}, groups open`, page);
    await shoot(page, `large-open${hash.replace("#", "-")}`);
    const labels = await page.locator(".label").count();
    assert.ok(
      labels < 60,
      `${labels} labels are in the page, of ${await app(page, "app.panes[0].sheet.rows.length")}`,
    );
    await page.keyboard.press("/");
    await page.keyboard.type("t:777 dispatch");
    await page.keyboard.press("Enter");
    await settle(page);
    assert.match(await page.locator(".follow").textContent(), /ticket 777/);
    assert.deepEqual(problems, []);
    await end();
  }
});
