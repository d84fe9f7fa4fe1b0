// The depth of an event on its track: steps in operations, operations in handlings. It is found from the
// times, so that a trace with records missing still draws without overlaps.
import type { Trace } from "../data/trace";
import { Kind } from "../data/trace";

export interface Nesting {
  depth: Uint16Array; // per event
  depths: Uint16Array; // per track: its number of levels
}

export function nest(trace: Trace, trackOf: Int32Array, tracks: number): Nesting {
  const { events } = trace;
  const depth = new Uint16Array(events.count);
  const depths = new Uint16Array(tracks);
  const open: number[][] = Array.from({ length: tracks }, () => []);
  for (const i of inOrder(trace)) {
    const track = trackOf[events.actor[i]];
    const stack = open[track];
    const moment = isMoment(trace, i);
    // A moment at the very end of a slice belongs to it, a slice does not.
    const over = (end: number): boolean =>
      moment ? end < events.begin[i] : end <= events.begin[i];
    while (stack.length > 0 && over(events.end[stack[stack.length - 1]])) stack.pop();
    depth[i] = moment ? Math.max(0, stack.length - 1) : stack.length;
    if (!moment) stack.push(i);
    if (depth[i] >= depths[track]) depths[track] = depth[i] + 1;
  }
  return { depth, depths };
}

/** Drawn as a mark on the event around it, not as a slice of its own. */
export function isMoment(trace: Trace, event: number): boolean {
  return (
    trace.events.kind[event] >= Kind.outcome &&
    trace.events.end[event] === trace.events.begin[event]
  );
}

/** By begin, and at the same moment the outer before the inner: the longer, then the kind. */
function inOrder(trace: Trace): Int32Array {
  const { begin, end, kind, count } = trace.events;
  const order = Int32Array.from({ length: count }, (_, i) => i);
  for (let from = 0; from < count; ) {
    let to = from + 1;
    while (to < count && begin[to] === begin[from]) ++to;
    if (to - from > 1)
      order.subarray(from, to).sort((a, b) => end[b] - end[a] || kind[a] - kind[b] || a - b);
    from = to;
  }
  return order;
}
