// Causes, tickets, search and schedules.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Maker, scheduleTrace, serverTrace } from "./generate.mjs";
import { library, prepared } from "./library.mjs";

const { search, eventTitle, firstDifference, nanoseconds, markText, ticks, View } = library;

test("a chain of causes leads from a rejected read to what failed and its call", () => {
  const { links, trace } = prepared(serverTrace({ events: 700, errors: 2, seed: 3 }));
  const read = [...links.errors].find((event) => eventTitle(trace, event).startsWith("read"));
  const path = links.errorPath(read).map((event) => eventTitle(trace, event));
  assert.deepEqual(path, ["read 'out 6'", "dispatch 'encode 6'"]);
  const chain = links.chain(read);
  assert.equal(trace.events.kind[chain.at(-1)], 0, "it ends at a call");
  for (let i = 1; i < chain.length; ++i) assert.equal(trace.events.cause[chain[i - 1]], chain[i]);
});

test("a circle of causes ends", () => {
  const maker = new Maker("circle");
  const actor = maker.actor("caller", "c", "callers", -1);
  const a = maker.event({ kind: 0, actor, begin: 0 });
  const b = maker.event({ kind: 0, actor, begin: 1, cause: a });
  a.cause = b;
  assert.deepEqual(prepared(maker.finish()).links.chain(0), [0, 1]);
});

test("a ticket is followed through all its actors, in its own context only", () => {
  const { links, trace } = prepared(serverTrace({ events: 700 }));
  const events = links.ticketEvents(1, 5);
  const bands = new Set(events.map((event) => trace.actors[trace.events.actor[event]].band));
  assert.deepEqual([...bands].sort(), ["callers", "content", "device"]);
  for (const event of events) assert.equal(trace.events.context[event], 1);
  for (const message of links.ticketMessages(1, 5)) assert.equal(links.messageContext(message), 1);
  assert.ok(links.ticketMessages(1, 5).length >= 2);
});

test("search finds labels, actors, tickets, errors and waits", () => {
  const { trace } = prepared(serverTrace({ events: 700, errors: 2, seed: 3 }));
  const titles = (query) => [...search(trace, query)].map((event) => eventTitle(trace, event));
  assert.ok(titles("encode 6").every((title) => title.length > 0));
  assert.ok(titles("encode").length > 0);
  assert.equal(titles("ENCODE").length, titles("encode").length, "in any case");
  const tickets = [...search(trace, "t:12")].map((event) => trace.events.ticket[event]);
  assert.ok(tickets.length > 0 && tickets.every((ticket) => ticket === 12));
  assert.ok([...search(trace, "http-1")].every((event) => trace.events.actor[event] >= 0));
  assert.ok(search(trace, "out of memory").length > 0);
  assert.equal(search(trace, "no such thing").length, 0);
  assert.equal(search(trace, "  ").length, 0);
  const both = search(trace, "t:12 read");
  assert.ok(both.length > 0 && both.length < tickets.length, "all words have to match");
});

test("a schedule: what a step handles and what is on its way after it", () => {
  const { steps, trace } = prepared(scheduleTrace({ seed: 2, after: 10 }));
  const { messages } = trace;
  for (let step = 0; step < steps.count; ++step) {
    const expected = [];
    for (let i = 0; i < messages.count; ++i)
      if (messages.sent[i] <= step && !(messages.received[i] <= step)) expected.push(i);
    assert.deepEqual(steps.undelivered(step), expected, `step ${step}`);
    const message = steps.message(step);
    if (message >= 0) assert.equal(messages.to[message], steps.event(step));
    assert.equal(steps.of(steps.event(step)), step);
  }
  assert.match(steps.verdict, /lost update/);
});

test("two schedules: the first step that differs", () => {
  const a = prepared(scheduleTrace({ seed: 2, after: 10 })).steps;
  const b = prepared(scheduleTrace({ seed: 3, after: 10 })).steps;
  const at = firstDifference(a, b);
  assert.ok(at >= 10, `the first ten are the same, and it says ${at}`);
  for (let i = 0; i < at; ++i) assert.equal(a.text(i), b.text(i));
  assert.notEqual(a.text(at), b.text(at));
  assert.equal(firstDifference(a, a), -1);
  const short = prepared(scheduleTrace({ seed: 2, after: 10, steps: 8 })).steps;
  const long = prepared(scheduleTrace({ seed: 2, after: 10, steps: 8 })).steps;
  assert.equal(firstDifference(short, long), -1);
});

test("threads have other numbers in each process, and do the same", () => {
  const calls = (...threads) => {
    const maker = new Maker("calls");
    const events = threads.map((thread, i) => {
      const known = maker.page.actors.findIndex((one) => one.label === maker.text(thread));
      const actor = known >= 0 ? known : maker.actor("caller", thread, "callers", -1);
      return maker.event({ kind: 0, actor, begin: i, name: "read" });
    });
    maker.schedule = { events, verdict: "" };
    return prepared(maker.finish()).steps;
  };
  const a = calls("thread 3", "thread 7", "thread 3");
  assert.equal(firstDifference(a, calls("thread 4", "thread 5", "thread 4")), -1);
  assert.equal(firstDifference(a, calls("thread 3", "thread 7", "thread 7")), 2);
});

test("numbers for people", () => {
  assert.equal(nanoseconds(3.2e6), "3.2 ms");
  assert.equal(nanoseconds(999), "999 ns");
  assert.equal(nanoseconds(12345), "12.35 µs");
  const trace = { clock: "ns" };
  assert.equal(markText(trace, 199_020, 20), "199.02 µs");
  assert.equal(markText(trace, 2_000_000, 500_000), "2.0 ms");
  assert.deepEqual(ticks(0, 10, 5, false), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticks(0, 2, 10, true), [0, 1, 2]);
});

test("the view keeps some of the trace in sight and zooms about a point", () => {
  const view = new View(
    0,
    1e6,
    20,
    () => {},
    () => true,
  );
  view.zoom(0.1, 250000);
  const part = (250000 - view.t0) / view.span;
  view.zoom(0.5, 250000);
  assert.ok(Math.abs((250000 - view.t0) / view.span - part) < 1e-9);
  for (let i = 0; i < 100; ++i) view.zoom(0.3);
  assert.ok(view.span >= 20);
  for (let i = 0; i < 100; ++i) view.pan(1);
  assert.ok(view.t0 < 1e6, "the end stays in sight");
  for (let i = 0; i < 100; ++i) view.zoom(3);
  assert.ok(view.span <= 1.5e6);
});
