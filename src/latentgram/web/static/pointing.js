// Pointing: select by a click, bracket words, drag a constituent to its mother or a word to its head.

import { attachmentTo } from "./alternatives.js";
import { correct } from "./asking.js";
import { select } from "./editor.js";
import { draw } from "./showing.js";
import { hint, isHolding, putOn } from "./picking.js";
import { html, percent } from "./svg.js";
import { hideTip, showTip, tipOf } from "./tips.js";
import { at, state, view } from "./work.js";

const drawing = at("drawing"), FAR = 6;
let drag = null, quiet = false, armed = null;

/** Make an element of the drawing do what can be done with its thing. */
export function listen(element, thing) {
  const content = () => tipOf(state.parse, state.parse.trees[state.tree], thing);
  element.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && !drag?.moved && !isSelected(thing) && showTip(element, content(), event));
  element.addEventListener("pointerleave", hideTip);
  element.addEventListener("focus", () => {
    view.focused = keyOf(thing) ?? view.focused;
    if (isHolding()) showDrop(thing);
    else if (!quiet) choose(thing);
  });
  element.addEventListener("blur", hideTip);
  element.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    if (element.hasPointerCapture?.(event.pointerId)) element.releasePointerCapture(event.pointerId);
    drag = { thing, x: event.clientX, y: event.clientY, moved: false };
  });
  element.addEventListener("click", (event) => {
    if (isHolding()) return putOn(thing);
    if (event.detail > 1 && canFold(thing)) return fold(thing);
    if (!setHead(thing)) {
      element.focus({ preventScroll: true });
      choose(thing);
    }
  });
}

/** The panel says all of it already. */
function isSelected(thing) {
  return Boolean(view.selected) && !at("editor").hidden && keyOf(view.selected) === keyOf(thing);
}

function choose(thing) {
  hideTip();
  for (const each of drawing.querySelectorAll(".selected")) each.classList.remove("selected");
  view.picture.reachable.get(keyOf(thing))?.element.classList.add("selected");
  mark(null);
  select(thing);
}

/** A word, then its head: the second click says it. */
function setHead(thing) {
  const before = armed?.parse === state.parse ? armed.word : null;
  arm(null);
  if (state.parse.kind !== "dependency" || thing.word === undefined || thing.word === before) return false;
  if (before === null) arm(thing.word);
  else correct({ kind: "head", word: before, head: thing.word + 1 });
  return before !== null;
}

/** Wait for the head of a word to be clicked, or for nothing. */
export function arm(word) {
  armed = word === null ? null : { word, parse: state.parse };
  hint(armed && `Now click the head of “${state.parse.words[word]}”, or press Escape (or click here).`);
}

document.addEventListener("pointermove", (event) => {
  if (!drag || drag.ended || (!drag.moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < FAR)) return;
  drag.moved = true;
  hideTip();
  const over = thingUnder(event);
  drag.over = over;
  if (drag.thing.word !== undefined && state.parse.kind === "constituency") {
    if (over?.word !== undefined) drag.to = over.word;
    if (drag.to !== undefined) mark([Math.min(drag.thing.word, drag.to), Math.max(drag.thing.word, drag.to) + 1]);
  } else showDrop(over);
});

document.addEventListener("pointerup", () => {
  const done = drag;
  if (done) done.ended = true;
  setTimeout(() => drag === done && (drag = null));
  showDrop(null);
  if (done?.moved) drop(done);
});
document.addEventListener("pointercancel", () => (drag = null));
document.addEventListener("click", (event) => drag?.moved && drawing.contains(event.target) && event.stopPropagation(), true);

/** What a drag said. */
function drop({ thing, over, to }) {
  arm(null);
  if (state.parse.kind === "dependency") {
    const word = thing.word ?? thing.arc, head = over?.word ?? over?.arc;
    if (word !== undefined && head !== undefined && head !== word) correct({ kind: "head", word, head: head + 1 });
  } else if (thing.word !== undefined) {
    if (to !== undefined && to !== thing.word) select({ span: state.chosen });
    if (to !== undefined) at("editor").querySelector("input")?.focus();
  } else if (thing.node && over?.node && !over.node.isTag && over.node.key !== thing.node.key) {
    correct(attachmentTo(state.parse, state.parse.trees[state.tree], thing.node, over.node));
  }
}

function thingUnder({ clientX, clientY }) {
  const element = document.elementFromPoint(clientX, clientY)?.closest?.(".node, .word, .arc, .item");
  if (!element) return null;
  for (const { element: known, thing } of view.picture.reachable.values()) if (known === element) return thing;
  return null;
}

/** Where it would go. */
export function showDrop(thing) {
  for (const each of drawing.querySelectorAll(".drop")) each.classList.remove("drop");
  if (thing) view.picture.reachable.get(keyOf(thing))?.element.classList.add("drop");
}

/** Mark words as chosen. */
export function mark(span) {
  state.chosen = span;
  for (const { element, thing } of view.picture.reachable.values()) {
    if (thing.word !== undefined) element.classList.toggle("chosen", Boolean(span) && thing.word >= span[0] && thing.word < span[1]);
  }
}

/** Phrases, and words that others are under (or the arcs that lead to such). */
export function canFold(thing) {
  if (thing.node) return !thing.node.isTag && !view.outline;
  return Boolean(view.picture.reachable.get(keyOf(thing))?.foldable);
}

export function fold(thing) {
  const { node, word, arc } = thing;
  const key = node ? `${node.first}-${node.end}-${node.label}` : `w${word ?? arc}`;
  if (!state.collapsed.delete(key)) state.collapsed.add(key);
  view.focused = keyOf(thing);
  arm(null);
  select(null);
  draw();
  focusOn(view.focused, true);
}

export function keyOf({ node, word, arc, tagOf }) {
  if (node) return node.key;
  if (tagOf !== undefined) return `t${tagOf}`;
  if (arc !== undefined) return `a${arc}`;
  return word === undefined ? undefined : `w${word}`;
}

/** Move the focus to a thing; `quietly` without opening the panel. */
export function focusOn(key, quietly = false) {
  const next = view.picture?.reachable.get(key);
  if (!next) return;
  view.picture.reachable.get(view.focused)?.element.setAttribute("tabindex", -1);
  view.focused = key;
  next.element.setAttribute("tabindex", 0);
  if (document.activeElement === next.element && !quietly && !isHolding()) choose(next.thing); // No event tells of it.
  quiet = quietly;
  next.element.focus({ preventScroll: true });
  quiet = false;
  // An arc may be wider than the screen: its word is what one looks for.
  (view.picture.reachable.get(`w${next.thing.arc}`) ?? next).element.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** Where the focus was on something that is not there any more, it goes to the tree, or to the tab of another view. */
export function rescueFocus() {
  const { activeElement: now, body } = document;
  if (now && now !== body && !now.disabled && now.getClientRects().length) return;
  if (at("view-parse").hidden) document.querySelector("[role=tab][aria-selected=true]").focus();
  else focusOn(view.focused, true);
}

export function hoverChart(element, { span, arc }) {
  const words = state.parse.words;
  const content = () => span
    ? [html("b", {}, `“${words.slice(span.first, span.end).join(" ")}”`), html("table", {}, ...span.parts.map((part) => html("tr", {}, html("td", {}, part.label), html("td", {}, percent(part.probability)))))]
    : [html("b", {}, `${words[arc.first]} → ${arc.head ? words[arc.head - 1] : "the root"} `), percent(arc.probability)];
  const enter = (event) => {
    showTip(element, content(), event);
    if (span) mark([span.first, span.end]);
  };
  const leave = () => {
    hideTip();
    mark(null);
  };
  element.setAttribute("aria-label", span
    ? `“${words.slice(span.first, span.end).join(" ")}”: ${span.parts.map((part) => `${part.label} ${percent(part.probability)}`).join(", ")}`
    : `${words[arc.first]}, head ${arc.head ? words[arc.head - 1] : "the root"}: ${percent(arc.probability)}`);
  element.addEventListener("pointerenter", enter);
  element.addEventListener("pointerleave", leave);
  element.addEventListener("focus", () => enter());
  element.addEventListener("blur", leave);
}
