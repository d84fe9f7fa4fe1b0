// The one way to make elements: texts become text nodes, so that no label of a trace becomes markup.
type Child = Node | string | null | undefined | false;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  for (const child of children) if (child) element.append(child);
  return element;
}

export function button(
  text: string,
  label: string,
  click: () => void,
  attributes: Record<string, string> = {},
): HTMLButtonElement {
  const element = el("button", { type: "button", title: label, ...attributes }, text);
  if (text !== label) element.setAttribute("aria-label", label);
  element.addEventListener("click", click);
  return element;
}

export function find<T extends HTMLElement>(selector: string): T {
  const element = document.querySelector<T>(selector);
  if (!element) throw new Error(`the page has no ${selector}`);
  return element;
}
