// The parse on the screen: the drawing and its size, the list of trees, the corrections and what they changed.

import { canAccept, whyClosed } from "./accepting.js";
import { drawArcs } from "./arcs.js";
import { byHand, freeTheRest, leaveTheRest, takeBack } from "./asking.js";
import { showColumnsMenu } from "./columns.js";
import { arcChart, spanChart } from "./chart.js";
import { select } from "./editor.js";
import { drawOutline } from "./outline.js";
import { focusOn, hoverChart, listen } from "./pointing.js";
import { html, isRightToLeft, percent } from "./svg.js";
import { drawTree } from "./tree.js";
import { at, keep, say, state, view } from "./work.js";

const READABLE = 0.72, LARGEST = 1.25, FIT = "fit";
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
  at("time").textContent = parse.milliseconds < 10000 ? `${parse.milliseconds.toFixed(0)} ms` : `${(parse.milliseconds / 1000).toFixed(0)} s`;
  if (parse.fallback) say("The grammar has no parse for this sentence; this tree is assembled from parts.");
  if (parse.coarse) say("This sentence exceeded the time limit: its tree is only approximate.");
  if (parse.tightened) say("This sentence is very long: fewer of its trees were considered.");
  at("by-hand").value = state.edited ?? tree.plain;
  at("text-format").textContent = parse.kind === "dependency" ? "CoNLL-U" : "Penn brackets";
  at("annotated").hidden = parse.kind === "dependency";
  at("hint").textContent = `${parse.guessed_tags ? "The tags were guessed. " : ""}${state.fixes.base === null ? "" : "Only your corrections change the tree."}`;
  at("free").hidden = state.fixes.base === null || Boolean(state.reopened);
  showColumnsMenu();
  draw();
  showFixes();
  showTreeNumber();
  showNote();
  at("chart").replaceChildren(parse.kind === "dependency" ? arcChart(parse, hoverChart) : spanChart(parse, hoverChart));
}

function mean(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

export function draw() {
  const { parse, fixes, collapsed, chosen, changes } = state;
  const options = { fixes, collapsed, chosen, changes, act: listen };
  const hadFocus = drawing.contains(document.activeElement);
  const paint = view.outline ? drawOutline : parse.kind === "dependency" ? drawArcs : drawTree;
  view.picture = paint(parse, parse.trees[state.tree], options);
  const old = [drawing.scrollLeft, drawing.scrollTop];
  drawing.replaceChildren(view.picture.picture);
  resize();
  drawing.scrollTo(...old);
  view.focused = nearest(view.focused);
  const here = view.picture.reachable.get(view.focused);
  here.element.setAttribute("tabindex", 0);
  // What was selected is selected still; the panel shows what can be said of it now.
  if (view.selected) select(view.selected.span ? null : here.thing);
  if (hadFocus) focusOn(view.focused, !view.selected);
}

/** The thing of this name, or the smallest one over the same words, or the first. */
function nearest(key) {
  const { reachable } = view.picture;
  if (key !== null && reachable.has(key)) return key;
  const [first, end] = /^n(\d+)-(\d+)/.exec(key ?? "")?.slice(1).map(Number) ?? [];
  let best = null;
  for (const [name, { thing }] of reachable) {
    if (first === undefined || !thing.node || thing.node.first > first || thing.node.end < end) continue;
    if (!best || thing.node.end - thing.node.first <= best.size) best = { name, size: thing.node.end - thing.node.first };
  }
  return best?.name ?? reachable.keys().next().value;
}

export function resize() {
  if (!view.picture?.width) return;
  // All of it where that can be read; else as wide as can be read, with the words always in sight.
  const fitting = Math.min((drawing.clientWidth - 4) / view.picture.width, (drawing.clientHeight - 6) / view.picture.height);
  const high = (drawing.clientHeight - 6) / view.picture.height;
  const scale = state.zoom === FIT ? Math.min(LARGEST, fitting) : state.zoom || Math.min(LARGEST, fitting >= READABLE ? fitting : Math.max(READABLE, Math.min(1, high)));
  view.picture.scale = scale;
  view.picture.picture.setAttribute("width", view.picture.width * scale);
  view.picture.picture.setAttribute("height", view.picture.height * scale);
  stick();
}

/** Where the sentence begins, from which it is read; the root, which has the focus, may be far from there. */
export function showBeginning() {
  drawing.scrollTo(isRightToLeft(state.parse.words) ? drawing.scrollWidth : 0, 0);
}

/** The words stay at the lower edge of what is seen of the drawing. */
function stick() {
  const words = view.picture?.words;
  if (!words) return;
  const beyond = (drawing.scrollTop + drawing.clientHeight) / view.picture.scale - view.picture.height;
  words.setAttribute("transform", `translate(0 ${Math.min(0, beyond)})`);
}
drawing.addEventListener("scroll", stick);

/** By a factor; without one all of it is shown, also when it is folded or the window changes. */
export function zoom(by) {
  state.zoom = by ? Math.min(3, Math.max(0.1, (view.picture.scale ?? 1) * by)) : FIT;
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
  state.changes = null;
  show();
}

/** The corrections, those not met with their reason; and what else has changed. */
export function showFixes() {
  const { fixes, unmet, changes } = state;
  at("accept").disabled = !canAccept();
  at("drop-text").hidden = state.edited === null;
  at("accept").title = whyClosed() ?? "Add this tree to the treebank and learn from it (a, or Ctrl+Enter)";
  at("undo").disabled = !fixes.canUndo;
  at("redo").disabled = !fixes.canRedo;
  at("no-fixes").hidden = fixes.count > 0;
  const told = fixes.now.told.map((fix) => html("li", { class: "told" }, html("span", {}, fix.said)));
  at("fixes").replaceChildren(...told, ...fixes.list.map((fix, number) => correction(fix, number, unmet.find((each) => each.number === number))));
  at("changes").hidden = !changes || !fixes.list.length;
  at("changed").replaceChildren(...(changes?.texts ?? []).slice(0, 12).map((text) => html("li", {}, text)));
}

/** The corrections that are not met, where they were made: at the panel. */
export function unmetCorrections() {
  const rows = state.unmet.map((unmet) => correction(state.fixes.list[unmet.number], unmet.number, unmet, undefined));
  return rows.length ? [html("ul", { class: "fixes" }, ...rows)] : [];
}

/** Why a correction is not met: the earlier one that it contradicts, or what the parser says. */
export function reasonOf({ reason, against }) {
  const earlier = state.fixes.list[against ?? -1];
  return earlier ? `it contradicts: ${earlier.said}` : reason;
}

function correction(fix, number, unmet, role = "alert") {
  const back = html("button", { class: "icon", "aria-label": `remove: ${fix.said}`, title: "Remove this correction", onclick: () => takeBack(number) }, "×");
  const text = html("span", {}, fix.said, fix.by_hand ? html("small", { class: "soft" }, " by hand") : null);
  if (!unmet) return html("li", {}, text, back);
  const add = unmet.by_hand ? html("button", { "data-act": "by-hand", onclick: () => byHand(number) }, /add it\?$/.test(unmet.reason) ? "Add it" : "Make it by hand") : null;
  return html("li", { class: "unmet" }, html("span", {}, text, html("small", { role }, reasonOf(unmet)), add), back);
}

/** What is typed as text is kept until it is accepted or dropped. */
function edit(text) {
  const { plain } = state.parse.trees[state.tree];
  state.edited = text === plain ? null : text;
  if (state.edited === null) at("by-hand").value = plain;
  keep();
  showFixes();
}

/** Flag and comment of the sentence. */
export function showNote() {
  const { flag, comment } = state.note;
  at("flag").setAttribute("aria-pressed", String(Boolean(flag)));
  at("comment").setAttribute("aria-pressed", String(Boolean(comment)));
  at("note-line").textContent = [flag && "⚑ flagged", comment && `✎ ${comment}`].filter(Boolean).join(" · ");
  if (at("comment-box").hidden) at("comment-text").value = comment ?? ""; // What is being written stays.
  at("skip").disabled = state.queue === null && !state.pasted;
}

export function startShowing() {
  at("leave").addEventListener("click", leaveTheRest);
  at("free").addEventListener("click", freeTheRest);
  at("by-hand").addEventListener("input", () => edit(at("by-hand").value));
  at("drop-text").addEventListener("click", () => edit(null));
}
