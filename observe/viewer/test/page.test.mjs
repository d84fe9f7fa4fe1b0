// The page in Debian's chromium: it opens from disk, asks for nothing, draws what is in the trace
// where it must be, and answers the pointer and the keyboard.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { close, launch, open, pageOf, settle, shoot } from "./browser.mjs";
import { Maker, pack, serverTrace } from "./generate.mjs";
import { apart, pixels, rgb } from "./png.mjs";

before(launch);
after(close);

const small = serverTrace({ events: 400 });
const failing = serverTrace({ events: 700, errors: 2, seed: 3 });

/** Shows a part of the trace, 0 to 1. */
const show = async (page, from, to) => {
  await page.evaluate(
    ([a, b]) => {
      const { view } = window.polychron.app;
      const length = view.last - view.first;
      view.set(view.first + a * length, view.first + b * length);
    },
    [from, to],
  );
  await settle(page);
};

/** Events of a kind that are in sight and wide: where they are on the page, and their shade. */
const boxes = (page, kind, least = 8) =>
  page.evaluate(
    ([wanted, wide]) => {
      const { app } = window.polychron;
      const pane = app.panes[0];
      const stage = pane.stage.getBoundingClientRect();
      const found = [];
      for (let i = 0; i < pane.trace.events.count; ++i) {
        if (pane.trace.events.kind[i] !== wanted) continue;
        const box = pane.box(i);
        if (!box || box.width < wide || box.x < 0 || box.x + box.width > stage.width) continue;
        if (box.y < 0 || box.y + box.height > stage.height) continue;
        const shade = app.scene.theme.shades[pane.items.shade[i]];
        found.push({ event: i, x: stage.x + box.x, y: stage.y + box.y, ...size(box), shade });
      }
      function size({ width, height }) {
        return { width, height };
      }
      return found;
    },
    [kind, least],
  );

const selected = (page) => page.evaluate(() => window.polychron.app.scene.selection?.item ?? null);

for (const hash of ["#webgl", "#canvas"])
  for (const colorScheme of ["light", "dark"])
    test(`draws events where they are: ${hash}, ${colorScheme}`, async () => {
      const { page, problems, end } = await open(pageOf("small", small), { hash, colorScheme });
      assert.equal(
        await page.evaluate(() => window.polychron.webgl),
        hash === "#webgl",
        "what was asked for draws",
      );
      await show(page, 0.3, 0.42);
      await page.keyboard.press("x"); // all arrows
      await page.keyboard.press("x"); // none: they cross what is measured
      await settle(page);
      const picture = pixels(await shoot(page, `small-${hash.slice(1)}-${colorScheme}`));
      const ground = rgb(colorScheme === "dark" ? "#12161c" : "#ffffff");
      let seen = 0;
      for (const kind of [0, 1, 2, 3])
        for (const box of await boxes(page, kind)) {
          const colour = picture.at(box.x + 3, box.y + 1);
          const far = apart(colour, rgb(box.shade));
          assert.ok(far <= 12, `event ${box.event}: ${colour} for ${box.shade}`);
          assert.ok(apart(colour, ground) > 25, "it is not the background");
          ++seen;
        }
      assert.ok(seen >= 15, `${seen} events in sight`);
      const { x, y } = await page.evaluate(() => {
        const { panes } = window.polychron.app;
        const box = panes[0].stage.getBoundingClientRect();
        return { x: box.x + 12, y: box.bottom - 3 };
      });
      assert.ok(apart(picture.at(x, y), ground) < 60, "where nothing is there is nothing");
      assert.deepEqual(problems, [], "no errors, no requests");
      await end();
    });

test("text of a trace is text and nothing else", async () => {
  const maker = new Maker("<img src=x onerror=alert(1)>");
  const evil = "</script><img src=x onerror=document.title='owned'>";
  const context = maker.context(evil);
  const actor = maker.actor("context", evil, "content", context);
  const error = `${evil}\n<b>second</b>`;
  const event = maker.event({
    kind: 1,
    actor,
    begin: 0,
    duration: 9,
    name: evil,
    label: evil,
    error,
  });
  maker.lint(evil, event);
  const { page, problems, end } = await open(pageOf("evil", maker.finish()));
  await page.keyboard.press(".");
  await page.click("#tab-errors");
  await page.click("#tab-lints");
  await page.click("#tab-details");
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.locator("pre b").count(), 0);
  assert.match(await page.locator("pre.error").textContent(), /<img src=x.*\n<b>second<\/b>/);
  assert.doesNotMatch(await page.title(), /owned/);
  assert.deepEqual(problems, []);
  await end();
});

test("its policy lets no script in and nothing out", async () => {
  const { page, problems, end } = await open(pageOf("small", small));
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "document.title = 'owned'";
    document.body.append(script);
    const image = new Image();
    image.src = "https://example.org/x.png";
    document.body.append(image);
  });
  const reached = await page.evaluate(() =>
    fetch("https://example.org/").then(
      () => true,
      () => false,
    ),
  );
  assert.equal(reached, false);
  assert.doesNotMatch(await page.title(), /owned/);
  assert.ok(problems.some((one) => /Content Security Policy/.test(one)));
  const other = problems.filter((one) => !/Content Security Policy/.test(one));
  assert.deepEqual(other, [], "nothing went so far as the network");
  await end();
});

test("a click on a slice shows what it is and why, link by link", async () => {
  const { page, end } = await open(pageOf("small", small));
  await show(page, 0.3, 0.42);
  const operation = (await boxes(page, 2, 60))[0];
  await page.mouse.click(operation.x + operation.width / 2, operation.y + operation.height / 2);
  await settle(page);
  assert.equal(await selected(page), operation.event);
  await shoot(page, "selected");
  const chain = await page.evaluate(
    (event) => window.polychron.app.panes[0].links.chain(event),
    operation.event,
  );
  assert.ok(chain.length >= 4, `operation, handling, handling, call: ${chain.length}`);
  for (const event of chain.slice(1)) {
    await page.locator("h3:has-text('Because of') + ol button").first().click();
    await settle(page);
    assert.equal(await selected(page), event);
  }
  assert.match(await page.locator(".details .badge").first().textContent(), /call/);
  await page.locator("h3:has-text('Sent') + ol button").first().click();
  assert.match(await page.locator(".details").textContent(), /on its way/);
  await end();
});

test("a wait says what it waits for, and how long", async () => {
  const { page, end } = await open(pageOf("small", small));
  await show(page, 0.3, 0.42);
  const place = await page.evaluate(() => {
    const pane = window.polychron.app.panes[0];
    const stage = pane.stage.getBoundingClientRect();
    for (let i = pane.trace.events.count; i < pane.items.count; ++i) {
      const box = pane.items.depth[i] === 255 ? null : pane.box(i);
      if (
        box &&
        box.x > 0 &&
        box.width > 120 &&
        box.x < stage.width - 60 &&
        box.y < stage.height - 20
      )
        return { x: stage.x + box.x + 30, y: stage.y + box.y + 8 };
    }
    return null;
  });
  await page.mouse.click(place.x, place.y);
  const title = await page.locator(".details h2").textContent();
  assert.match(title, /^(read|write|dispatch) '.*' waits [\d.]+ µs for (read|write|dispatch) '/);
  await page.keyboard.press("c");
  await settle(page);
  assert.match(await page.locator(".details").textContent(), /Kept waiting/);
  await end();
});

test("a click on an arrow shows the message", async () => {
  const { page, end } = await open(pageOf("small", small));
  await show(page, 0.3, 0.42);
  const place = await page.evaluate(() => {
    const pane = window.polychron.app.panes[0];
    const stage = pane.stage.getBoundingClientRect();
    for (let y = 0; y < stage.height; y += 3)
      for (let x = 0; x < stage.width; x += 3) {
        const hit = pane.hit(x, y, false);
        if (hit && "message" in hit) return { x: x + stage.x, y: y + stage.y };
      }
    return null;
  });
  assert.ok(place, "an arrow can be hit");
  await page.mouse.move(place.x, place.y);
  assert.match(await page.locator(".tip").textContent(), /→/);
  await page.mouse.click(place.x, place.y);
  assert.match(await page.locator(".details .badge").first().textContent(), /message/);
  await shoot(page, "message");
  await end();
});

test("errors: in their colour, in the list, with their whole path", async () => {
  const { page, end } = await open(pageOf("failing", failing));
  assert.equal(await page.locator("#tab-errors").textContent(), "Errors 4");
  await page.click("#tab-errors");
  await page.locator("#body-errors .row").nth(1).click();
  await settle(page);
  assert.match(
    await page.locator("pre.error").textContent(),
    /not run: input .* errored by\ndispatch/,
  );
  assert.match(
    await page.locator("h3:has-text('Because of') + ol").textContent(),
    /failure dispatch 'encode 6'/,
  );
  await page.keyboard.press("c");
  await page.keyboard.press("z");
  await settle(page);
  const picture = pixels(await shoot(page, "error"));
  const failed = (await boxes(page, 2, 4)).filter((box) => box.shade === "#cf222e");
  assert.ok(failed.length > 0, "the failed operation is in sight and in the colour of errors");
  const { x, y } = failed[0];
  assert.ok(apart(picture.at(x + 3, y + 1), rgb("#cf222e")) < 16);
  await end();
});

test("search: hits, next, previous, tickets, none", async () => {
  const { page, end } = await open(pageOf("failing", failing));
  await page.keyboard.press("/");
  await page.keyboard.type("detect");
  const total = Number((await page.locator("#hits").textContent()).replace(",", ""));
  assert.ok(total > 10, `${total} hits`);
  await page.keyboard.press("Enter");
  await settle(page);
  assert.equal(await page.locator("#hits").textContent(), `1 of ${total}`);
  const first = await selected(page);
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#hits").textContent(), `2 of ${total}`);
  assert.notEqual(await selected(page), first);
  await page.keyboard.press("Shift+Enter");
  assert.equal(await selected(page), first);
  await page.keyboard.press("Shift+Enter");
  assert.equal(await page.locator("#hits").textContent(), `${total} of ${total}`);
  await settle(page);
  await shoot(page, "search");
  await page.fill("#search", "t:12");
  await page.keyboard.press("Enter");
  await page.locator(".follow").waitFor();
  assert.match(await page.locator(".follow").textContent(), /ticket 12/);
  await page.fill("#search", "no such thing");
  assert.equal(await page.locator("#hits").textContent(), "none");
  await end();
});

test("a ticket is followed through all actors, and the rest is dimmed", async () => {
  const { page, end } = await open(pageOf("failing", failing));
  await page.fill("#search", "t:12");
  await page.keyboard.press("Enter");
  await page.locator(".follow").click();
  await settle(page);
  const picture = pixels(await shoot(page, "followed"));
  const followed = await page.evaluate(() => [...window.polychron.app.scene.followed.items]);
  let bright = 0;
  let dim = 0;
  for (const kind of [0, 1, 2])
    for (const box of await boxes(page, kind)) {
      const far = apart(picture.at(box.x + 3, box.y + 1), rgb(box.shade));
      if (followed.includes(box.event)) {
        assert.ok(far < 60, `followed ${box.event} is ${far} from its colour`);
        ++bright;
      } else if (far > 20) ++dim;
    }
  assert.ok(bright >= 2 && dim >= 2, `${bright} in full colour, ${dim} dimmed`);
  const rows = await page.evaluate(() =>
    window.polychron.app.panes[0].sheet.rows.map((row) => row.title),
  );
  assert.ok(rows.length <= 9, `only tracks that take part: ${rows.join(", ")}`);
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => window.polychron.app.scene.followed), null);
  await end();
});

test("damaged data: one line that says what is wrong", async () => {
  for (const [name, data, line] of [
    ["none", "@TRACE" + "@", /this page holds no trace yet/],
    ["cut", pack(small).slice(0, 400), /damaged: it cannot be inflated/],
    ["column", { ...small, events: { ...small.events, name: [] } }, /events\.name has 0 entries/],
    ["foreign", { traceEvents: [] }, /this is no trace of Polychron/],
  ]) {
    const { page, problems, end } = await open(pageOf(name, data), { ready: ".wrong" });
    assert.match(await page.locator("#wrong").textContent(), line);
    assert.equal(await page.locator("header").isVisible(), false);
    assert.deepEqual(problems, []);
    if (name === "column") await shoot(page, "damaged");
    await end();
  }
});

test("paper: a picture of what is in sight, and all errors and lints", async () => {
  const { page, end } = await open(pageOf("failing", failing), { colorScheme: "dark" });
  const pdf = await page.pdf({ landscape: true, printBackground: true });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  assert.ok(pdf.length > 20000, `${pdf.length} bytes`);
  const report = await page.evaluate(() => {
    window.dispatchEvent(new Event("beforeprint"));
    const canvas = document.querySelector("#report canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    for (let i = 0; i < data.length; i += 4 * 101)
      colours.add(data[i] * 65536 + data[i + 1] * 256 + data[i + 2]);
    return { text: document.querySelector("#report").textContent, colours: colours.size };
  });
  assert.match(report.text, /Errors: 4.*out of memory.*Lints: 2/s);
  assert.ok(report.colours > 10, `${report.colours} colours in the picture`);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: 1050, height: 760 });
  await shoot(page, "paper");
  await end();
});
