// Small helpers for drawing: elements, widths of texts, colours of probabilities, numbers.

const NS = "http://www.w3.org/2000/svg";
const pen = document.createElement("canvas").getContext("2d");

/** An SVG element with attributes and children. */
export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** An HTML element; `on…` attributes are listeners. */
export function html(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function width(text, size = 14, weight = 400) {
  pen.font = `${weight} ${size}px ui-sans-serif, system-ui, "Noto Sans", sans-serif`;
  return pen.measureText(text).width;
}

/** From orange (unsure) to blue (sure); told apart by colour-blind eyes too. */
export function colour(probability) {
  const share = Math.round(100 * Math.min(Math.max(probability ?? 1, 0), 1) ** 2);
  return `color-mix(in oklab, var(--unsure), var(--sure) ${share}%)`;
}

export function percent(probability) {
  if (probability === null || probability === undefined) return "–";
  const value = 100 * probability;
  if (value > 99.95) return "100 %";
  if (value > 99) return `${value.toFixed(1)} %`;
  return value < 0.1 ? "< 0.1 %" : `${value.toFixed(value < 10 ? 1 : 0)} %`;
}

/** The part of a list with the greatest probabilities. */
export function strongest(items, count) {
  return [...items].sort((a, b) => b.probability - a.probability).slice(0, count);
}

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** Whether a sentence runs from right to left: most of its words do. */
export function isRightToLeft(words) {
  const letters = words.filter((word) => /\p{L}/u.test(word));
  return letters.filter((word) => RIGHT_TO_LEFT.test(word)).length * 2 > letters.length;
}
