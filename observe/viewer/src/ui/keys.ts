// The keyboard: every action of a pointer. One table, from which the help is made.
import type { App } from "../app";
import { find } from "./dom";

interface Key {
  keys: string[]; // as in KeyboardEvent.key, lower case
  shown: string;
  text: string;
  section: string;
  press: (app: App) => void;
  hold?: (app: App, part: number) => void; // while held; part: of a second
}

const moving = "Move";
const looking = "Look";
const stepping = "Step by step";
const page = "Page";

export interface Actions {
  help(): void;
  theme(): void;
  arrows(): void;
}

export function keyTable(actions: Actions): Key[] {
  const zoom = (way: number) => (app: App, part: number) => app.view.zoom(Math.exp(way * 3 * part));
  const pan = (way: number) => (app: App, part: number) => app.view.pan(way * 1.1 * part);
  const once = (hold: (app: App, part: number) => void) => (app: App) => hold(app, 0.12);
  const held = (
    keys: string[],
    shown: string,
    text: string,
    hold: (app: App, part: number) => void,
  ): Key => ({
    keys,
    shown,
    text,
    section: moving,
    press: once(hold),
    hold,
  });
  const key = (
    section: string,
    keys: string[],
    shown: string,
    text: string,
    press: (app: App) => void,
  ): Key => ({
    keys,
    shown,
    text,
    section,
    press,
  });
  return [
    held(["w", "+", "="], "W  +", "zoom in", zoom(-1)),
    held(["s", "-"], "S  −", "zoom out", zoom(1)),
    held(["a", "arrowleft"], "A  ←", "earlier", pan(-1)),
    held(["d", "arrowright"], "D  →", "later", pan(1)),
    held(["arrowup"], "↑", "tracks above", (app, part) => scroll(app, -900 * part)),
    held(["arrowdown"], "↓", "tracks below", (app, part) => scroll(app, 900 * part)),
    key(moving, ["pageup"], "PgUp", "a screen up", (app) => scroll(app, -0.8 * paneOf(app).height)),
    key(moving, ["pagedown"], "PgDn", "a screen down", (app) =>
      scroll(app, 0.8 * paneOf(app).height),
    ),
    key(moving, ["0", "home"], "0", "all of the trace", (app) => app.view.fit()),
    key(looking, ["/"], "/", "search; Enter and Shift+Enter: next and previous", () =>
      find<HTMLInputElement>("#search").select(),
    ),
    key(looking, ["."], ".", "next event of the track", (app) => neighbour(app, 1)),
    key(looking, [","], ",", "previous event of the track", (app) => neighbour(app, -1)),
    key(looking, ["c"], "C", "to the cause", cause),
    key(looking, ["e"], "E", "to the first effect", effect),
    key(looking, ["t"], "T", "follow the ticket through all actors, or stop", follow),
    key(looking, ["z", "f"], "Z", "zoom to the selection", zoomTo),
    key(looking, ["x"], "X", "arrows: few, all, none", () => actions.arrows()),
    key(looking, ["o"], "O", "open or close all groups", openAll),
    key(stepping, ["n"], "N", "next step", (app) => app.goToStep(app.scene.step + 1)),
    key(stepping, ["p"], "P", "previous step", (app) => app.goToStep(app.scene.step - 1)),
    key(stepping, ["g"], "G", "to where two runs first differ", (app) => {
      if (app.scene.difference >= 0) app.goToStep(app.scene.difference);
    }),
    key(page, ["l"], "L", "light or dark", () => actions.theme()),
    key(page, ["escape"], "Esc", "stop following, select nothing", escape),
    key(page, ["?"], "?", "this help", () => actions.help()),
  ];
}

export function listen(app: App, table: Key[]): void {
  const down = new Map<string, Key>();
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    if (target.closest("input, dialog, select")) return;
    const name = event.key.toLowerCase();
    // Buttons and lists keep the keys that they need.
    const inList = target.closest(".panel, header, .labels") !== null;
    if (inList && /^(enter| |home|page.*)$/.test(name)) return;
    if (target.closest("[role=tablist]") && name.startsWith("arrow")) return;
    const key = table.find((one) => one.keys.includes(name));
    if (!key) return;
    event.preventDefault();
    if (!key.hold) return key.press(app);
    if (event.repeat && down.has(name)) return;
    key.press(app);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    down.set(name, key);
    app.held = (elapsed) => {
      for (const one of down.values()) one.hold?.(app, elapsed / 1000);
      return down.size > 0;
    };
    app.invalidate();
  });
  const up = (name: string): void => {
    down.delete(name);
    if (down.size === 0) app.held = null;
  };
  document.addEventListener("keyup", (event) => up(event.key.toLowerCase()));
  window.addEventListener("blur", () => {
    for (const name of [...down.keys()]) up(name);
  });
}

const paneOf = (app: App) => app.panes[app.active];

function scroll(app: App, by: number): void {
  const pane = paneOf(app);
  pane.scrollTo(pane.scroll + by);
  app.invalidate();
}

/** The selected event, or the first in sight for users who begin with the keyboard. */
function selected(app: App): { pane: number; item: number } | null {
  const { selection } = app.scene;
  return selection && "item" in selection ? selection : null;
}

function neighbour(app: App, way: number): void {
  const from = selected(app);
  if (!from) {
    const { items, index, trace, shift } = paneOf(app);
    for (let i = 0; i < trace.events.count; ++i)
      if (items.end[i] - shift >= app.view.t0) return app.select({ pane: index, item: i });
    return;
  }
  const { items } = app.panes[from.pane];
  if (items.depth[from.item] === 255) return;
  const list = items.inRow(items.row(from.item));
  const next = list[list.indexOf(from.item) + way];
  if (next !== undefined) app.select({ pane: from.pane, item: next });
}

function cause(app: App): void {
  const { selection } = app.scene;
  if (!selection) return;
  const { trace, items } = app.panes[selection.pane];
  if ("message" in selection)
    return app.selectEvent(selection.pane, trace.messages.from[selection.message]);
  const wait = selection.item - trace.events.count;
  if (items.isWait(selection.item)) return app.selectEvent(selection.pane, trace.waits.on[wait]);
  app.selectEvent(selection.pane, trace.events.cause[selection.item]);
}

function effect(app: App): void {
  const { selection } = app.scene;
  if (!selection) return;
  const { trace, items, links } = app.panes[selection.pane];
  if ("message" in selection)
    return app.selectEvent(selection.pane, trace.messages.to[selection.message]);
  if (items.isWait(selection.item)) return;
  const next = links.effects.of(selection.item)[0];
  if (next !== undefined) app.selectEvent(selection.pane, next);
}

function follow(app: App): void {
  if (app.scene.followed) return app.unfollow();
  const { selection } = app.scene;
  if (!selection) return;
  const { trace, items, links } = app.panes[selection.pane];
  const { pane } = selection;
  if ("message" in selection)
    return app.follow(
      pane,
      links.messageContext(selection.message),
      trace.messages.ticket[selection.message],
    );
  const { item } = selection;
  const wait = item - trace.events.count;
  if (!items.isWait(item)) app.follow(pane, trace.events.context[item], trace.events.ticket[item]);
  else app.follow(pane, trace.actors[trace.waits.actor[wait]].context, trace.waits.ticket[wait]);
}

function zoomTo(app: App): void {
  const at = selected(app);
  if (!at) return;
  const { shift } = app.panes[at.pane];
  const [begin, end] = app.around(at).map((time) => time - shift);
  const air = Math.max((end - begin) * 0.2, app.trace.clock === "step" ? 3 : 20);
  app.view.show(begin - air, end + air);
}

function openAll(app: App): void {
  const { sheet } = paneOf(app);
  const closed = sheet.tracks.groups.some((group) => !group.open && !group.flat);
  sheet.setAll(closed);
  scroll(app, 0);
}

function escape(app: App): void {
  if (app.scene.followed) app.unfollow();
  else app.select(null);
}
