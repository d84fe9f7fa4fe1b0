// The times of frames, so that "without stutter" is a number: the last 600 of each of two times.
const kept = 600;

export class Frames {
  /** From one frame to the next while something moves, ms: the visible time. */
  readonly between: number[] = [];
  /** Our own time in a frame, ms. */
  readonly drawing: number[] = [];
  private last = NaN;

  /** A frame begins; returns the time since the one before, ms (a usual frame's, if there was none). */
  next(now: number): number {
    const elapsed = now - this.last;
    this.last = now;
    if (Number.isNaN(elapsed)) return 16;
    keep(this.between, elapsed);
    return Math.min(100, elapsed);
  }

  drawn(took: number): void {
    keep(this.drawing, took);
  }

  /** Nothing moves any more: the time until the next frame does not count. */
  rest(): void {
    this.last = NaN;
  }
}

function keep(list: number[], value: number): void {
  list.push(value);
  if (list.length > kept) list.shift();
}
