// What is read from a page's data, and what is said of data that cannot be read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Maker, pack, serverTrace } from "./generate.mjs";
import { library } from "./library.mjs";

const { decode, unpack } = library;

function tiny() {
  const maker = new Maker("tiny");
  const context = maker.context("ctx");
  const caller = maker.actor("caller", "main", "callers", -1);
  const actor = maker.actor("context", "ctx", "content", context);
  const call = maker.event({ kind: 0, actor: caller, begin: 1000, duration: 50, name: "submit" });
  const handling = maker.event({
    kind: 1,
    actor,
    begin: 1200,
    duration: 30,
    name: "submit",
    label: "foo",
    ticket: 4,
    cause: call,
  });
  maker.message(call, handling, caller, actor, 1010, 1200, "submit", 4);
  return maker.finish();
}

test("a packed trace comes out as it went in", async () => {
  const data = serverTrace({ events: 300, errors: 1 });
  assert.deepEqual(await unpack(pack(data)), data);
});

test("times are sums of differences", () => {
  const trace = decode(tiny());
  assert.deepEqual([...trace.events.begin], [1000, 1200]);
  assert.deepEqual([...trace.events.end], [1050, 1230]);
  assert.equal(trace.first, 1000);
  assert.equal(trace.last, 1230);
  assert.equal(library.eventTitle(trace, 1), "submit 'foo'");
});

test("a caller's call belongs to the context that it calls", () => {
  const trace = decode(tiny());
  assert.deepEqual([...trace.events.context], [0, 0]);
});

test("columns that say nothing may be left out", () => {
  const data = tiny();
  for (const name of ["label", "object", "detail", "error", "ticket", "state", "cause"])
    delete data.events[name];
  for (const name of ["messages", "waits", "counters", "lints", "schedule", "other"])
    delete data[name];
  const trace = decode(data);
  assert.deepEqual([...trace.events.cause], [-1, -1]);
  assert.equal(trace.messages.count, 0);
  assert.equal(trace.waits.count, 0);
});

test("texts of any length: titles are short, the rest is as long as can be laid out", () => {
  const data = tiny();
  const at = data.events.label[1];
  data.strings[at] = "x".repeat(100_000);
  const trace = decode(data);
  assert.equal(library.eventTitle(trace, 1), `submit '${"x".repeat(200)}…'`);
  assert.match(trace.strings[at], /^x{20000}… \(and 80000 more letters\)$/);
});

test("a trace without events is a trace", () => {
  const trace = decode(new Maker("empty").finish());
  assert.equal(trace.events.count, 0);
  assert.ok(trace.last > trace.first);
});

test("in a driven world what is done takes its step", () => {
  const data = tiny();
  data.clock = "step";
  data.events.duration = [0, 0];
  assert.deepEqual([...decode(data).events.end], [1001, 1201]);
});

test("unknown times of messages are those of their events, or unknown", () => {
  const data = tiny();
  data.messages.sent = [-1];
  data.messages.received = [-1];
  data.messages.to = [-1];
  const { sent, received } = decode(data).messages;
  assert.equal(sent[0], 1000);
  assert.ok(Number.isNaN(received[0]));
});

const wrong = [
  [
    "another format",
    (d) => (d.format = "chrome"),
    /this is no trace of Polychron: its format is "chrome"/,
  ],
  ["a newer version", (d) => (d.version = 2), /this trace has version 2, the page reads version 1/],
  ["a short column", (d) => d.events.name.pop(), /events\.name has 1 entries, others 2/],
  ["an unknown string", (d) => (d.events.name[1] = 99), /events\.name\[1\] is 99, not 0 to \d+/],
  ["an unknown actor", (d) => (d.events.actor[0] = 7), /events\.actor\[0\] is 7, not 0 to 1/],
  ["no whole number", (d) => (d.events.cause[1] = 0.5), /events\.cause\[1\] is 0\.5, not -1 to 1/],
  [
    "a text for a time",
    (d) => (d.events.begin[1] = "x"),
    /events\.begin\[1\] is "x", not a number/,
  ],
  [
    "events out of order",
    (d) => (d.events.begin[1] = -5),
    /events\.begin\[1\] is before the one before/,
  ],
  ["a negative duration", (d) => (d.events.duration[1] = -5), /events\.duration\[1\] is -5/],
  ["an unknown kind", (d) => (d.events.kind[0] = 9), /events\.kind\[0\] is 9, not 0 to 6/],
  ["an unknown band", (d) => (d.actors[0].band = "top"), /actors\[0\]\.band is "top"/],
  ["no strings", (d) => delete d.strings, /strings is missing, not a list/],
  ["a number among strings", (d) => (d.strings[1] = 5), /strings\[1\] is 5, not a text/],
  ["a message to nobody", (d) => (d.messages.to[0] = 8), /messages\.to\[0\] is 8, not -1 to 1/],
  ["a list for an object", (d) => (d.events = []), /events is \[\], not an object/],
  [
    "a damaged second trace",
    (d) => (d.other = { ...tiny(), events: 3 }),
    /events is 3, not an object/,
  ],
];

for (const [what, damage, message] of wrong)
  test(`says in one line what is wrong: ${what}`, () => {
    const data = tiny();
    damage(data);
    assert.throws(
      () => decode(data),
      (error) => {
        assert.ok(error instanceof library.Damaged, `a Damaged, not ${error.stack}`);
        assert.match(error.message, message);
        assert.ok(!error.message.includes("\n"));
        return true;
      },
    );
  });

test("says what is wrong with what is no trace at all", async () => {
  await assert.rejects(unpack("@TRA" + "CE@"), /this page holds no trace yet/);
  await assert.rejects(unpack("%%%"), /it is not base64/);
  await assert.rejects(unpack("AAAA"), /it cannot be inflated/);
  const whole = pack(tiny());
  await assert.rejects(unpack(whole.slice(0, 80)), /it cannot be inflated/);
  const { deflateSync } = await import("node:zlib");
  await assert.rejects(unpack(deflateSync('{"a":').toString("base64")), /5 characters, no JSON/);
});
