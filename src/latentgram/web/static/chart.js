// Posteriors at a glance: spans as a triangle over the words, arcs as a square of heads and modifiers; and curves.

import { colour, isRightToLeft, percent, strongest, svg } from "./svg.js";

const CELL = 20;
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** The chart of spans: a diamond for each, over its words, as dark as it is probable. */
export function spanChart(parse, hover) {
  const size = parse.words.length;
  const best = new Map();
  for (const part of parse.marginals) {
    if (part.end - part.first < 2) continue;
    const key = `${part.first}-${part.end}`;
    const cell = best.get(key) ?? { first: part.first, end: part.end, probability: 0, parts: [] };
    cell.parts.push(part);
    cell.probability = Math.max(cell.probability, part.probability);
    best.set(key, cell);
  }
  const half = CELL / 2, height = (size + 1) * half + 8, mirrored = isRightToLeft(parse.words);
  const cells = [...best.values()].sort((a, b) => a.probability - b.probability);
  const marks = cells.map((cell) => {
    const middle = (cell.first + cell.end) / 2, x = (mirrored ? size - middle : middle) * CELL, y = height - 8 - (cell.end - cell.first) * half;
    const mark = svg("path", {
      class: "cell", d: `M${x},${y - half} L${x + half},${y} L${x},${y + half} L${x - half},${y} Z`,
      fill: colour(cell.probability), "fill-opacity": Math.max(0.06, cell.probability), role: "img",
    });
    hover(mark, { span: cell });
    return { mark, x, y, probability: cell.probability };
  });
  const frame = svg("path", { d: `M0,${height - 8} L${(size * CELL) / 2},${height - 8 - size * half} L${size * CELL},${height - 8}`, fill: "none", stroke: "var(--line)" });
  return steered(svg("svg", { viewBox: `-2 0 ${size * CELL + 4} ${height}`, role: "group", "aria-label": "posterior of every span" }, frame, ...marks.map(({ mark }) => mark), ...ticks(size, height)), marks);
}

/** A chart of which one cell is reached by Tab, and from there the next in each direction by the arrow keys. */
function steered(picture, cells) {
  const at = new Map(cells.map((cell) => [cell.mark, cell]));
  for (const { mark } of cells) mark.setAttribute("tabindex", -1);
  strongest(cells, 1)[0]?.mark.setAttribute("tabindex", 0);
  picture.addEventListener("keydown", (event) => {
    const way = WAYS[event.key], here = at.get(event.target);
    if (!way || !here) return;
    event.preventDefault();
    const ahead = (cell) => (cell.x - here.x) * way[0] + (cell.y - here.y) * way[1];
    const aside = (cell) => Math.abs((cell.x - here.x) * way[1]) + Math.abs((cell.y - here.y) * way[0]);
    const far = (cell) => ahead(cell) + 2 * aside(cell);
    const next = cells.filter((cell) => ahead(cell) > 0.1).reduce((best, cell) => (!best || far(cell) < far(best) ? cell : best), null);
    if (!next) return;
    here.mark.setAttribute("tabindex", -1);
    next.mark.setAttribute("tabindex", 0);
    next.mark.focus();
  });
  return picture;
}

function ticks(size, height) {
  return Array.from({ length: size }, (_, m) => svg("line", { x1: m * CELL + 6, x2: (m + 1) * CELL - 6, y1: height - 3, y2: height - 3, stroke: "var(--soft)", "stroke-width": 1.5 }));
}

/** The chart of arcs: modifiers in the direction of the script, heads from top (the root) to bottom. */
export function arcChart(parse, hover) {
  const size = parse.words.length, step = 14, left = 46, mirrored = isRightToLeft(parse.words);
  const cells = parse.marginals.map((part) => {
    const x = left + (mirrored ? size - 1 - part.first : part.first) * step, y = part.head * step;
    const mark = svg("rect", {
      class: "cell", x, y, width: step - 1, height: step - 1, rx: 2,
      fill: colour(part.probability), "fill-opacity": Math.max(0.08, part.probability), role: "img",
    });
    hover(mark, { arc: part });
    return { mark, x, y, probability: part.probability };
  });
  const names = ["root", ...parse.words].map((word, row) => svg("text", { x: left - 4, y: row * step + 10, "text-anchor": "end" }, word.length > 8 ? `${word.slice(0, 7)}…` : word));
  const frame = svg("rect", { x: left, y: 0, width: size * step, height: (size + 1) * step, fill: "none", stroke: "var(--line)" });
  return steered(svg("svg", { viewBox: `0 0 ${left + size * step + 2} ${(size + 1) * step + 2}`, role: "group", "aria-label": "posterior of every arc: a row for each head, a column for each word" }, frame, ...names, ...cells.map(({ mark }) => mark)), cells);
}

/** How much of the parser's trees was right before correction, tree by tree, with a running mean. */
export function agreementChart(points) {
  const known = points.filter((point) => point.agreement !== null).slice(-60);
  if (known.length < 2) return null;
  let mean = known[0].agreement;
  const means = known.map((point, i) => (mean = i ? 0.8 * mean + 0.2 * point.agreement : mean));
  const shown = known.map((point) => ({ value: point.agreement, title: `${percent(point.agreement / 100)} right, ${point.fixes} corrections` }));
  return curve(shown, means, [0, 50, 100], `agreement before correction, last ${known.length} trees, now about ${Math.round(mean)} percent`);
}

/** Accuracy on held-out trees, version by version. */
export function heldoutChart(points) {
  const known = points.slice(-60);
  if (!known.length) return null;
  const values = known.map((point) => point.score);
  const low = Math.max(0, Math.floor(Math.min(...values) / 5) * 5 - 5), high = Math.min(100, low + Math.max(10, Math.ceil((Math.max(...values) - low) / 5) * 5));
  const shown = known.map((point) => ({ value: point.score, title: `${percent(point.score / 100)} after ${point.accepted} accepted trees` }));
  return curve(shown, values, [low, high], `accuracy on held-out trees, now ${values.at(-1).toFixed(1)} percent`);
}

/** Dots and a line over them, between the first and the last mark of the scale. */
function curve(points, line, marks, label) {
  const wide = 300, high = 90, left = 28, low = marks[0], span = marks.at(-1) - low;
  const x = (i) => left + (i * (wide - left - 6)) / Math.max(points.length - 1, 1), y = (value) => 8 + ((low + span - value) * (high - 22)) / span;
  const grid = marks.flatMap((value) => [
    svg("line", { x1: left, x2: wide - 6, y1: y(value), y2: y(value), stroke: "var(--line)" }),
    svg("text", { x: left - 5, y: y(value) + 3, "text-anchor": "end", "font-size": 9, fill: "var(--soft)" }, String(value)),
  ]);
  const dots = points.map((point, i) => svg("circle", { cx: x(i), cy: y(point.value), r: 2.4, fill: colour(point.value / 100) }, svg("title", {}, point.title)));
  const path = line.map((value, i) => `${i ? "L" : "M"}${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  return svg("svg", { viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": label }, ...grid, ...dots, svg("path", { d: path, fill: "none", stroke: "var(--accent)", "stroke-width": 2 }));
}

/** Bars, for shares and singular values. */
export function bars(values, name) {
  const wide = 360, high = 110, most = Math.max(...values, 1e-12), step = Math.min(26, (wide - 34) / values.length);
  return svg("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, role: "img", "aria-label": `${name}: ${values.slice(0, 8).map((value) => value.toPrecision(3)).join(", ")}` },
    ...values.map((value, i) => svg("rect", { x: 30 + i * step, y: 8 + 82 * (1 - value / most), width: Math.max(step - 3, 1), height: (82 * value) / most, rx: 2, fill: "var(--accent)" }, svg("title", {}, `${i + 1}: ${value.toPrecision(4)}`))),
    svg("line", { x1: 28, x2: wide - 4, y1: 90.5, y2: 90.5, stroke: "var(--line)" }),
    svg("text", { x: 26, y: 15, "text-anchor": "end", "font-size": 9, fill: "var(--soft)" }, most.toPrecision(2)),
    svg("text", { x: wide / 2, y: 105, "text-anchor": "middle", "font-size": 11, fill: "var(--soft)" }, name));
}
