// The part of time in sight, for all panes at once, and its movement. Knows no canvas.
export class View {
  t0: number;
  t1: number;
  private target: { t0: number; t1: number; from: number; t0a: number; t1a: number } | null = null;

  constructor(
    readonly first: number,
    readonly last: number,
    private least: number, // the shortest time that can fill the sheet
    private changed: () => void,
    private calm: () => boolean, // no animations wanted
  ) {
    this.t0 = first;
    this.t1 = last;
    this.fit(false);
  }

  get span(): number {
    return this.t1 - this.t0;
  }

  /** All of the trace, with a little air. */
  fit(animate = true): void {
    const air = (this.last - this.first) * 0.01;
    this.show(this.first - air, this.last + air, animate);
  }

  zoom(factor: number, at = (this.t0 + this.t1) / 2): void {
    const span = Math.min(this.whole * 1.5, Math.max(this.least, this.span * factor));
    const part = (at - this.t0) / this.span;
    this.set(at - span * part, at + span * (1 - part));
  }

  /** By a share of the part in sight. */
  pan(part: number): void {
    this.set(this.t0 + part * this.span, this.t1 + part * this.span);
  }

  set(t0: number, t1: number): void {
    this.target = null;
    this.put(t0, t1);
  }

  show(t0: number, t1: number, animate = true): void {
    if (!animate || this.calm()) return this.set(t0, t1);
    this.target = { t0, t1, from: performance.now(), t0a: this.t0, t1a: this.t1 };
    this.changed();
  }

  /**
   * Shows a stretch of time in the middle. Zooms only if it would otherwise be too small or too large. A
   * moment is as large at any zoom.
   */
  reveal(begin: number, end: number, air = 16): void {
    const length = end - begin;
    const visible = begin >= this.t0 && end <= this.t1;
    const sized = length === 0 || (length * 300 >= this.span && length <= this.span);
    if (visible && sized) return;
    const span = sized ? this.span : Math.max(this.least * 4, length * air);
    const middle = (begin + end) / 2;
    this.show(middle - span / 2, middle + span / 2);
  }

  /** Moves on towards where it is going; true: there is more to come. */
  advance(now: number): boolean {
    if (!this.target) return false;
    const { t0, t1, from, t0a, t1a } = this.target;
    const part = Math.min(1, (now - from) / 160);
    const eased = 1 - (1 - part) ** 3;
    const done = part >= 1;
    const target = this.target;
    this.put(t0a + (t0 - t0a) * eased, t1a + (t1 - t1a) * eased);
    this.target = done ? null : target;
    return !done;
  }

  private get whole(): number {
    return this.last - this.first;
  }

  /** Some of the trace always stays in sight. */
  private put(t0: number, t1: number): void {
    let span = Math.max(this.least, Math.min(this.whole * 1.5, t1 - t0));
    if (!(span > 0)) span = this.least;
    const middle = (t0 + t1) / 2;
    const kept = Math.max(this.first - span * 0.35, Math.min(this.last + span * 0.35, middle));
    this.t0 = kept - span / 2;
    this.t1 = kept + span / 2;
    this.changed();
  }
}
