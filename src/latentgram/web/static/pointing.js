// Pointing and keys: tips, choosing words, moving through the drawing, and what is to be corrected.

import { accept, correct, walk } from "./asking.js";
import { edit, tipOf } from "./editor.js";
import { draw } from "./showing.js";
import { html, percent } from "./svg.js";
import { at, state, view } from "./work.js";

const drawing = at("drawing"), tip = at("tip");
let drag = null;

export function listen(element, thing) {
  element.addEventListener("pointerenter", (event) => showTip(element, tipOf(state.parse, state.parse.trees[state.tree], thing), event));
  element.addEventListener("pointerleave", hideTip);
  element.addEventListener("focus", () => showTip(element, tipOf(state.parse, state.parse.trees[state.tree], thing)));
  element.addEventListener("blur", hideTip);
  element.addEventListener("click", (event) => {
    if (drag?.moved) return;
    view.focused = keyOf(thing) ?? view.focused;
    if (event.detail === 2 && canFold(thing)) fold(thing);
    else if (event.detail < 2) later(() => correctThing(thing));
  });
  if (thing.word !== undefined && state.parse.kind === "constituency") {
    element.addEventListener("pointerdown", () => (drag = { from: thing.word, to: thing.word, moved: false }));
    element.addEventListener("pointerenter", () => {
      if (!drag) return;
      drag.moved ||= thing.word !== drag.from;
      drag.to = thing.word;
      mark([Math.min(drag.from, drag.to), Math.max(drag.from, drag.to) + 1]);
    });
  }
}

/** A click waits a moment, in case it becomes a double click. */
let pending = null;
function later(action) {
  clearTimeout(pending);
  pending = setTimeout(action, 180);
}

document.addEventListener("pointerup", () => {
  const span = drag?.moved ? state.chosen : null;
  if (span) correctThing({ span });
  setTimeout(() => (drag = null));
});

function mark(span) {
  state.chosen = span;
  for (const [key, { element, word }] of view.picture.reachable) {
    if (String(key).startsWith("w")) element.classList.toggle("chosen", Boolean(span) && word >= span[0] && word < span[1]);
  }
}

function correctThing(thing) {
  hideTip();
  if (thing.word !== undefined && state.parse.kind === "constituency" && !thing.span) thing = state.chosen ? { span: state.chosen } : { span: [thing.word, thing.word + 1] };
  edit(state.parse, state.parse.trees[state.tree], thing, async (fix) => {
    mark(null);
    await correct(fix);
    view.picture.reachable.get(view.focused)?.element.focus();
  });
}

/** Phrases, and words that others hang on (or the arcs that lead to such). */
function canFold(thing) {
  if (thing.node) return !thing.node.isTag;
  return Boolean(view.picture.reachable.get(keyOf(thing))?.foldable);
}

function fold({ node, word, arc }) {
  clearTimeout(pending);
  const key = node ? `${node.first}-${node.end}-${node.label}` : `w${word ?? arc}`;
  if (!state.collapsed.delete(key)) state.collapsed.add(key);
  view.focused = keyOf({ node, word, arc });
  draw();
  view.picture.reachable.get(view.focused)?.element.focus();
}

drawing.addEventListener("focus", () => view.picture?.reachable.get(view.focused)?.element.focus());
drawing.addEventListener("keydown", (event) => {
  if (!view.picture || event.ctrlKey || event.metaKey) return;
  const here = view.picture.reachable.get(view.focused);
  if (event.key.startsWith("Arrow")) {
    event.preventDefault();
    const next = view.picture.move(view.focused, event.key);
    if (event.shiftKey && here?.word !== undefined && state.parse.kind === "constituency") return extend(event.key);
    mark(null);
    if (next !== undefined) focusOn(next);
  } else if (event.key === "Enter" && here) {
    event.preventDefault();
    correctThing(thingOf(here));
  } else if (event.key === " " && here && canFold(here)) {
    event.preventDefault();
    fold(here);
  } else if (["Delete", "Backspace"].includes(event.key) && here) {
    event.preventDefault();
    if (here.node && !here.node.isTag) correct({ kind: "no-span", first: here.node.first, end: here.node.end, label: here.node.label });
    else if (here.arc !== undefined) correct({ kind: "no-head", word: here.arc, head: state.parse.trees[state.tree].heads[here.arc] });
  } else if (event.key === "Escape") mark(null);
});

function keyOf(thing) {
  if (thing.node) return thing.node.number;
  if (thing.arc !== undefined) return `a${thing.arc}`;
  return thing.word === undefined ? undefined : `w${thing.word}`;
}

function thingOf(here) {
  if (here.node) return { node: here.node };
  return here.arc !== undefined ? { arc: here.arc } : { word: here.word };
}

function focusOn(key) {
  view.picture.reachable.get(view.focused)?.element.setAttribute("tabindex", -1);
  view.focused = key;
  const { element } = view.picture.reachable.get(key);
  element.setAttribute("tabindex", 0);
  element.focus();
  element.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function extend(key) {
  const word = Number(view.focused.slice(1)), next = word + (key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0);
  if (next < 0 || next >= state.parse.words.length || next === word) return;
  const [low, high] = state.chosen ?? [word, word + 1];
  const anchor = word === low ? high - 1 : low;
  focusOn(`w${next}`);
  mark([Math.min(anchor, next), Math.max(anchor, next) + 1]);
}

function showTip(element, content, event) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const box = element.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const x = event ? event.clientX : box.left + box.width / 2;
  const below = box.bottom + 10 + own.height < innerHeight;
  tip.style.left = `${Math.max(8, Math.min(innerWidth - own.width - 8, x - own.width / 2))}px`;
  tip.style.top = `${below ? box.bottom + 10 : Math.max(8, box.top - own.height - 10)}px`;
}

function hideTip() {
  tip.hidden = true;
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
    : `${words[arc.first]} on ${arc.head ? words[arc.head - 1] : "the root"}: ${percent(arc.probability)}`);
  element.addEventListener("pointerenter", enter);
  element.addEventListener("pointerleave", leave);
  element.addEventListener("focus", () => enter());
  element.addEventListener("blur", leave);
}

document.addEventListener("keydown", (event) => {
  if (at("editor").open || !(event.ctrlKey || event.metaKey)) return;
  const key = event.key.toLowerCase(), typing = ["TEXTAREA", "INPUT"].includes(document.activeElement?.tagName);
  if (key === "enter") {
    event.preventDefault();
    accept();
  } else if (key === "z" && !typing) {
    event.preventDefault();
    walk(event.shiftKey ? 1 : -1);
  } else if (key === "y" && !typing) {
    event.preventDefault();
    walk(1);
  }
});
