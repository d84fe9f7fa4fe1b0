// Search by label, actor, ticket and the text of errors. The text is sought in the strings, of which there
// are few. The events are then compared by numbers only: 200,000 take milliseconds.
import { actorTitle } from "./trace";
import type { Trace } from "./trace";

/** Events that match, in time order. "t:12" is a ticket. With several words all must be found. */
export function search(trace: Trace, query: string): Int32Array {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return new Int32Array(0);
  const tests = words.map((word) => testOf(trace, word));
  const found: number[] = [];
  for (let i = 0; i < trace.events.count; ++i) if (tests.every((test) => test(i))) found.push(i);
  return Int32Array.from(found);
}

function testOf(trace: Trace, word: string): (event: number) => boolean {
  const { events, waits, strings } = trace;
  const ticket = /^t:(\d+)$/.exec(word);
  if (ticket) {
    const wanted = Number(ticket[1]);
    return (i) => events.ticket[i] === wanted;
  }
  const texts = Uint8Array.from(strings, (one) => Number(one.toLowerCase().includes(word)));
  const actors = Uint8Array.from(trace.actors, (_, i) =>
    Number(`${trace.actors[i].kind} ${actorTitle(trace, i)}`.toLowerCase().includes(word)),
  );
  const waiting = new Set<number>();
  for (let i = 0; i < waits.count; ++i)
    if (texts[waits.text[i]] && waits.event[i] >= 0) waiting.add(waits.event[i]);
  const { name, label, object, detail, error, actor } = events;
  return (i) =>
    texts[name[i]] + texts[label[i]] + texts[object[i]] + texts[detail[i]] + texts[error[i]] > 0 ||
    actors[actor[i]] > 0 ||
    waiting.has(i);
}
