// Tracks, nesting, rows and levels: what holds for every trace, on random ones.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Maker, random, serverTrace } from "./generate.mjs";
import { library, prepared } from "./library.mjs";

const { levelFor, visibleCount, levelOf, instances, firstError, Shade } = library;
const seed = Number(process.env.POLYCHRON_SEED ?? 0) || 1 + Math.floor(Math.random() * 1e6);
console.log(`layout: POLYCHRON_SEED=${seed}`);

/** Nothing of a server's order: slices of any length at any time on few actors. */
function noise(dice, count) {
  const maker = new Maker("noise");
  const context = maker.context("c");
  const actors = Array.from({ length: 5 }, (_, i) =>
    maker.actor("tensor", `t${i}`, "content", context),
  );
  for (let i = 0; i < count; ++i) {
    const kind = dice.below(7);
    const begin = dice.below(2000);
    const duration = kind > 3 ? 0 : dice.below(dice.chance(0.1) ? 900 : 20);
    const state = dice.chance(0.02) ? 1 : 0;
    maker.event({ kind, actor: dice.pick(actors), begin, duration, state, name: "n" });
  }
  for (let i = 0; i < 20; ++i) {
    const begin = dice.below(2000);
    maker.wait({
      actor: dice.pick(actors),
      begin,
      end: begin + dice.below(300),
      ticket: 1,
      text: "w",
    });
  }
  return maker.finish();
}

const samples = () => {
  const dice = random(seed);
  return [
    prepared(serverTrace({ seed, events: 1500, errors: 4 })),
    ...Array.from({ length: 20 }, () => prepared(noise(dice, 200))),
  ];
};

test("slices of a row do not overlap, and every item has its row", () => {
  for (const { items } of samples()) {
    let placed = 0;
    for (let row = 0; row < items.rows; ++row) {
      let end = -Infinity;
      for (const item of items.inRow(row)) {
        ++placed;
        assert.equal(items.row(item), row);
        if (items.moment[item]) continue;
        assert.ok(items.begin[item] >= end, `item ${item} begins before ${end} in row ${row}`);
        end = items.end[item];
      }
    }
    const without = items.depth.filter((depth) => depth === 255).length;
    assert.equal(placed + without, items.count);
  }
});

test("steps stand under their operation, and that under its handling", () => {
  const { items, trace } = prepared(serverTrace({ seed, events: 800 }));
  const { cause, kind, actor } = trace.events;
  for (let i = 0; i < trace.events.count; ++i)
    if ((kind[i] === 2 || kind[i] === 3) && actor[cause[i]] === actor[i])
      assert.equal(items.depth[i], items.depth[cause[i]] + 1, `event ${i}`);
});

test("what is in a row is found by its time", () => {
  for (const { items } of samples())
    for (let row = 0; row < items.rows; ++row)
      for (const item of items.inRow(row)) {
        const found = items.at(row, (items.begin[item] + items.end[item]) / 2, 0);
        assert.ok(found >= 0, `nothing found where item ${item} is`);
        const inside =
          items.begin[found] <= items.end[item] && items.end[found] >= items.begin[item];
        assert.ok(inside, `found ${found} for ${item}`);
      }
});

test("levels merge no more than a grain and lose nothing", () => {
  for (const { items, levels, trace } of samples()) {
    for (const level of levels) {
      const cover = new Map();
      for (let i = 0; i < level.count; ++i) {
        if (level.item[i] < 0)
          assert.ok(level.end[i] - level.begin[i] <= level.grain * 1.000001, "merged too far");
        const key = `${level.track[i]} ${level.depth[i]}`;
        if (!cover.has(key)) cover.set(key, []);
        cover.get(key).push([level.begin[i], level.end[i], level.shade[i]]);
      }
      for (let item = 0; item < items.count; ++item) {
        if (items.depth[item] === 255) continue;
        const list = cover.get(`${items.track[item]} ${items.depth[item]}`) ?? [];
        const holder = list.find(
          ([b, e, shade]) =>
            b <= items.begin[item] &&
            e >= items.end[item] &&
            (items.shade[item] < firstError || shade >= firstError),
        );
        assert.ok(holder, `item ${item} of ${trace.title} is lost at grain ${level.grain}`);
      }
    }
  }
});

test("a frame of 200,000 events draws about a rectangle a pixel and row", () => {
  const { levels, items, trace } = prepared(
    serverTrace({ events: 200000, errors: 10, tensors: 8 }),
  );
  const width = 1000;
  for (let span = trace.last - trace.first; span > 20000; span /= 1.9) {
    const level = levelFor(levels, span / width);
    const begin = (trace.first + trace.last - span) / 2;
    const drawn = visibleCount(level, begin, begin + span);
    assert.ok(drawn < width * items.rows * 1.5, `${drawn} at ${span}`);
  }
  assert.ok(levels[levels.length - 1].count < items.count / 3, "the coarsest level is coarse");
});

test("times keep their nanoseconds after hours", () => {
  const hours = 40 * 3600e9;
  const maker = new Maker("long");
  const actor = maker.actor("caller", "c", "callers", -1);
  for (let i = 0; i < 50; ++i) maker.event({ kind: 0, actor, begin: hours + i * 7, duration: 3 });
  maker.event({ kind: 0, actor, begin: 0, duration: 1 });
  const { levels, items } = prepared(maker.finish());
  const all = levelOf(
    items,
    Array.from({ length: items.count }, (_, i) => i),
  );
  assert.equal(levels[0].count, 51);
  const floats = new Float32Array(instances(all, 0));
  for (let i = 0; i < 50; ++i)
    assert.equal(floats[(i + 1) * 5] + floats[(i + 1) * 5 + 1], hours + i * 7, `event ${i}`);
});

test("ten thousand short-lived tensors share tracks and begin collapsed", () => {
  const maker = new Maker("many");
  const context = maker.context("c");
  for (let i = 0; i < 10000; ++i) {
    const actor = maker.actor("tensor", `t${i}`, "content", context, {
      start: i * 10,
      end: i * 10 + 95,
    });
    maker.event({ kind: 1, actor, begin: i * 10 + 5, duration: 3, name: "outcome" });
  }
  const { sheet, tracks } = prepared(maker.finish());
  assert.equal(tracks.groups.length, 1);
  assert.equal(tracks.groups[0].title, "10,000 tensors");
  assert.equal(tracks.tracks.length, 10);
  assert.deepEqual(
    sheet.rows.map((row) => row.kind),
    ["band", "group"],
  );
  sheet.toggle(0);
  assert.equal(sheet.rows.length, 12);
  assert.equal(sheet.rowAt(sheet.height - 1).index, 9);
});

test("actors of which nothing was recorded are together", () => {
  const { sheet } = prepared(serverTrace({ events: 100 }));
  const idle = sheet.rows.filter((row) => row.title.endsWith(" idle"));
  assert.equal(idle.length, 1);
  assert.equal(idle[0].kind, "group");
});

test("following shows only the tracks that take part", () => {
  const { sheet, tracks } = prepared(serverTrace({ events: 300 }));
  const before = sheet.rows.length;
  sheet.focus(new Set([0, tracks.tracks.length - 1]));
  assert.equal(sheet.rows.filter((row) => row.kind === "track").length, 2);
  sheet.focus(null);
  assert.equal(sheet.rows.length, before);
});

test("bands are callers, content, device, counters, from top to bottom", () => {
  const { sheet } = prepared(serverTrace({ events: 300 }));
  const bands = sheet.rows.filter((row) => row.kind === "band").map((row) => row.title);
  assert.deepEqual(bands, ["Callers", "Content", "Device", "Counters"]);
});

test("a counter is drawn as high in each pixel as it ever is there", () => {
  const dice = random(seed);
  for (let round = 0; round < 20; ++round) {
    const count = 1 + dice.below(3000);
    const time = Float64Array.from({ length: count }, () => dice.below(100_000)).sort();
    const value = Float64Array.from({ length: count }, () => dice.below(1000));
    const boxes = [];
    const context = {
      fillRect: (x, y, width, height) => boxes.push({ x, y, width, height, of: context.fillStyle }),
      fillText: () => {},
    };
    const width = 300;
    const t0 = dice.below(50_000);
    const scale = width / (1 + dice.below(100_000));
    const theme = { counterFill: "area", counter: "line", dim: "" };
    const counter = { name: "c", unit: "", context: 0, time, value };
    library.drawCounter(context, counter, 0, 44, { t0, scale, width, theme });
    const peak = Math.max(...value) || 1;
    const areas = boxes.filter((box) => box.of === "area");
    // What it was before, and all that is told from then on.
    const highest = (from, to) => {
      let most = 0;
      for (let i = 0; i < count && time[i] < to; ++i)
        if (i + 1 === count || time[i + 1] > from) most = Math.max(most, value[i]);
      return 40 - (most / peak) * 32;
    };
    for (let pixel = 0; pixel < width; ++pixel) {
      const seen = areas.filter((box) => box.x < pixel + 1 && box.x + box.width > pixel);
      const top = Math.min(...seen.map((box) => box.y), 40);
      const at = (pixels) => t0 + (pixel + pixels) / scale;
      // A column may begin in the pixel before, and is as high as what is there.
      const [low, high] = [highest(at(0), at(1)), highest(at(-1), at(2))];
      const what = `round ${round}, pixel ${pixel}: ${top}, not ${low} to ${high}`;
      assert.ok(top <= low + 1e-6 && top >= high - 1e-6, what);
    }
  }
});

test("every shade has legible ink", () => {
  for (const theme of Object.values(library.themes)) {
    assert.equal(theme.shades.length, library.shades);
    theme.shades.forEach((shade, i) => {
      const ratio = library.contrast(shade, theme.ink[i]);
      assert.ok(ratio >= 4.5, `shade ${i} ${shade} on ${theme.ink[i]}: ${ratio.toFixed(2)}`);
    });
    for (const colour of [theme.text, theme.dim, theme.error, theme.accent])
      assert.ok(library.contrast(colour, theme.background) >= 4.5, `${colour} on the background`);
  }
  assert.ok(Shade.error >= firstError);
});
