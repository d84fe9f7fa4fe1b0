// Pointers on a pane: drag pans, two fingers pinch, a click selects, Shift and drag marks a stretch
// of time to zoom into. The wheel scrolls tracks as in a page; with Ctrl (and where nothing
// scrolls) it zooms.
import type { App } from "../app";
import type { Pane } from "../pane";
import { el } from "./dom";
import { Tip } from "./tip";

interface Finger {
  x: number;
  y: number;
}

const slack = 5; // pixels: less is a click

export class Input {
  private fingers = new Map<number, Finger>();
  private start: Finger = { x: 0, y: 0 };
  private moved = false;
  private marking: HTMLElement | null = null;

  constructor(
    private app: App,
    private pane: Pane,
    private tip: Tip,
  ) {
    const { stage, labels } = pane;
    stage.addEventListener("pointerdown", (event) => this.down(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    stage.addEventListener("pointerup", (event) => this.up(event));
    stage.addEventListener("pointercancel", (event) => this.drop(event));
    stage.addEventListener("pointerleave", () => this.leave());
    stage.addEventListener("dblclick", (event) => this.zoomTo(event));
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    document.addEventListener("keydown", () => tip.hide()); // the thing under it may move
    stage.addEventListener("focus", () => (app.active = pane.index));
    labels.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.scroll(event.deltaY);
      },
      { passive: false },
    );
    let last = 0;
    labels.addEventListener("touchstart", (event) => (last = event.touches[0].clientY), {
      passive: true,
    });
    labels.addEventListener(
      "touchmove",
      (event) => {
        this.scroll(last - event.touches[0].clientY);
        last = event.touches[0].clientY;
      },
      { passive: true },
    );
  }

  private at(event: MouseEvent): Finger {
    const box = this.pane.stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.app.active = this.pane.index;
    const at = this.at(event);
    this.fingers.set(event.pointerId, at);
    this.pane.stage.setPointerCapture(event.pointerId);
    if (this.fingers.size > 1) {
      this.moved = true;
      return;
    }
    this.start = at;
    this.moved = false;
    if (event.shiftKey) {
      this.marking = el("div", { class: "marking" });
      this.pane.stage.append(this.marking);
    }
  }

  private move(event: PointerEvent): void {
    const at = this.at(event);
    const before = this.fingers.get(event.pointerId);
    if (!before) return this.hover(event, at);
    this.tip.hide();
    if (!this.moved && Math.hypot(at.x - this.start.x, at.y - this.start.y) < slack) return;
    this.moved = true;
    const { view } = this.app;
    if (this.marking) {
      const left = Math.min(at.x, this.start.x);
      this.marking.style.left = `${left}px`;
      this.marking.style.width = `${Math.abs(at.x - this.start.x)}px`;
      return;
    }
    if (this.fingers.size === 2) {
      const other = [...this.fingers].find(([id]) => id !== event.pointerId)![1];
      const wide = (a: Finger): number => Math.max(24, Math.hypot(a.x - other.x, a.y - other.y));
      const middle = this.pane.timeAt((before.x + other.x) / 2, view);
      view.zoom(wide(before) / wide(at), middle);
      view.pan(-(at.x - before.x) / 2 / this.pane.width);
    } else {
      view.pan(-(at.x - before.x) / this.pane.width);
      this.scroll(before.y - at.y);
    }
    this.fingers.set(event.pointerId, at);
  }

  private up(event: PointerEvent): void {
    const at = this.at(event);
    const known = this.fingers.delete(event.pointerId);
    if (this.marking) {
      this.marking.remove();
      this.marking = null;
      const times = [this.start.x, at.x].map((x) => this.pane.timeAt(x, this.app.view));
      if (this.moved) this.app.view.show(Math.min(...times), Math.max(...times));
      return;
    }
    if (known && !this.moved) {
      const hit = this.pane.hit(at.x, at.y, event.pointerType === "touch");
      this.app.select(hit, false);
    }
  }

  private drop(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    this.marking?.remove();
    this.marking = null;
  }

  private hover(event: PointerEvent, at: Finger): void {
    if (event.pointerType === "touch") return;
    this.app.scene.pointer = this.pane.timeAt(at.x, this.app.view);
    this.app.invalidate();
    const hit = this.pane.hit(at.x, at.y, false);
    this.pane.stage.classList.toggle("over", hit !== null);
    if (hit) this.tip.show(hit, event.clientX, event.clientY);
    else this.tip.hide();
  }

  private leave(): void {
    this.tip.hide();
    this.app.scene.pointer = NaN;
    this.app.invalidate();
  }

  private zoomTo(event: MouseEvent): void {
    const at = this.at(event);
    const hit = this.pane.hit(at.x, at.y, false);
    if (!hit || !("item" in hit))
      return this.app.view.zoom(0.5, this.pane.timeAt(at.x, this.app.view));
    const { items, shift } = this.pane;
    const begin = items.begin[hit.item] - shift;
    const length = Math.max(items.end[hit.item] - shift - begin, this.app.view.span / 20);
    this.app.view.show(begin - length * 0.1, begin + length * 1.1);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    this.tip.hide();
    const { view } = this.app;
    const unit = event.deltaMode === 1 ? 16 : 1;
    const dx = event.deltaX * unit;
    const dy = event.deltaY * unit;
    const zooms =
      event.ctrlKey || event.metaKey || (!this.pane.scrolls && !event.shiftKey && dx === 0);
    if (zooms) {
      // A pinch on a touchpad comes as a wheel of small steps.
      const fast = event.ctrlKey && Math.abs(dy) < 30 ? 0.01 : 0.002;
      return view.zoom(Math.exp(dy * fast), this.pane.timeAt(this.at(event).x, view));
    }
    if (event.shiftKey && dx === 0) return view.pan(dy / this.pane.width);
    if (dx !== 0) view.pan(dx / this.pane.width);
    this.scroll(dy);
  }

  private scroll(dy: number): void {
    this.pane.scrollTo(this.pane.scroll + dy);
    this.app.invalidate();
  }
}
