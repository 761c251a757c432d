// The parse on the screen: the drawing and its size, the list of trees, the corrections.

import { drawArcs } from "./arcs.js";
import { refresh } from "./asking.js";
import { arcChart, spanChart } from "./chart.js";
import { describe } from "./fixes.js";
import { hoverChart, listen } from "./pointing.js";
import { html, percent } from "./svg.js";
import { drawTree } from "./tree.js";
import { at, keep, say, state, view } from "./work.js";

const READABLE = 0.72, FIT = "fit";
const drawing = at("drawing");

export function show() {
  const { parse } = state;
  at("result").hidden = !parse;
  at("result").inert = false;
  if (!parse) return;
  const tree = parse.trees[state.tree];
  at("confidence").textContent = percent(tree.expected ?? mean(tree.confidence));
  at("probability").textContent = percent(tree.probability);
  at("logprob").textContent = parse.logprob === null ? "–" : parse.logprob.toFixed(1);
  at("entropy").textContent = parse.entropy === null ? "–" : `${parse.entropy.toFixed(2)} nats`;
  at("time").textContent = `${parse.milliseconds.toFixed(0)} ms`;
  if (parse.fallback) say("The grammar has no parse of this sentence; this tree is put together from parts.");
  at("by-hand").value = tree.plain;
  at("text-format").textContent = parse.kind === "dependency" ? "CoNLL-U" : "Penn brackets";
  at("annotated").hidden = parse.kind === "dependency";
  at("accept").disabled = Boolean(state.accepted);
  at("hint").innerHTML = parse.kind === "dependency"
    ? "Click an arc or a word to set its head, a tag to change it. Double-click a word to fold what hangs on it. Keys: <kbd>←</kbd> <kbd>→</kbd> words, <kbd>↑</kbd> arc, <kbd>Enter</kbd> correct, <kbd>Space</kbd> fold."
    : "Click a node to correct it, double-click to fold it; drag over words to make a constituent. Keys: arrows, <kbd>Enter</kbd> correct, <kbd>Shift</kbd>+<kbd>→</kbd> over words, <kbd>Del</kbd> forbid, <kbd>Space</kbd> fold.";
  if (parse.guessed_tags) at("hint").append(" The tags were guessed.");
  draw();
  showFixes();
  showTreeNumber();
  at("chart").replaceChildren(parse.kind === "dependency" ? arcChart(parse, hoverChart) : spanChart(parse, hoverChart));
}

function mean(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

export function draw() {
  const { parse, fixes, collapsed, chosen } = state;
  const options = { fixes, collapsed, chosen, act: listen };
  view.picture = (parse.kind === "dependency" ? drawArcs : drawTree)(parse, parse.trees[state.tree], options);
  const old = drawing.scrollLeft;
  drawing.replaceChildren(view.picture.picture);
  resize();
  drawing.scrollLeft = old;
  if (view.focused === null || !view.picture.reachable.has(view.focused)) view.focused = view.picture.reachable.keys().next().value;
  view.picture.reachable.get(view.focused).element.setAttribute("tabindex", 0);
}

export function resize() {
  // As large as fits, but never too small to read: a long sentence is scrolled, or fitted by the button.
  const scale = state.zoom === FIT ? Math.min(1.25, fitting()) : state.zoom || Math.min(1.25, Math.max(READABLE, fitting()));
  view.picture.scale = scale;
  view.picture.picture.setAttribute("width", view.picture.width * scale);
  view.picture.picture.setAttribute("height", view.picture.height * scale);
}

function fitting() {
  return (drawing.clientWidth - 4) / view.picture.width;
}

/** By a factor; without one all of it is shown, also when it is folded or the window changes. */
export function zoom(by) {
  state.zoom = by ? Math.min(3, Math.max(0.1, view.picture.scale * by)) : FIT;
  resize();
}

export function showTreeNumber() {
  const count = state.parse.trees.length;
  at("tree-number").textContent = `${state.tree + 1} of ${count}`;
  at("tree-before").disabled = state.tree === 0;
  at("tree-after").disabled = state.tree >= count - 1;
}

export function flip(step) {
  const next = state.tree + step;
  if (!state.parse || next < 0 || next >= state.parse.trees.length) return;
  state.tree = next;
  show();
}

export function showFixes() {
  at("undo").disabled = !state.fixes.canUndo;
  at("redo").disabled = !state.fixes.canRedo;
  at("no-fixes").hidden = state.fixes.list.length > 0;
  at("fixes").replaceChildren(...state.fixes.list.map((fix, number) => {
    const words = describe(fix, state.parse?.words ?? []);
    return html("li", {}, html("span", {}, words), html("button", { "aria-label": `take back: ${words}`, title: "Take back", onclick: async () => {
      state.fixes = state.fixes.remove(number);
      keep();
      await refresh();
    } }, "×"));
  }));
}
