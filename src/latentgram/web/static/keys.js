// Keys: everything on the tree without a mouse. Letters do something wherever nothing is being typed.

import { accept } from "./accepting.js";
import { likeliestBeside } from "./alternatives.js";
import { correct, walk } from "./asking.js";
import { choose, enterEditor, select } from "./editor.js";
import { showHelp } from "./help.js";
import { labelKeys } from "./labels.js";
import { editComment, flag, skip } from "./notes.js";
import { isHolding, pickUp, putBack, putOn, putOnRoot } from "./picking.js";
import { arm, canFold, fold, focusOn, mark, showDrop } from "./pointing.js";
import { flip } from "./showing.js";
import { pin, toggleOutline, undoAccept } from "./tools.js";
import { at, say, state, view } from "./work.js";

const drawing = at("drawing");

const COMMANDS = {
  t: () => focusOn(view.focused), n: () => doubtful(1), b: () => doubtful(-1), a: () => accept(), u: () => walk(-1), r: () => walk(1),
  s: skip, f: flag, c: editComment, p: pin, o: toggleOutline, "[": () => flip(-1), "]": () => flip(1), "?": showHelp, e: () => enterField(), U: undoAccept,
  k: () => at("editor").querySelector("[data-act=keep]")?.click(), m: () => take(), i: () => here()?.node?.first === here()?.node?.end && take("antecedent"),
};

/** Take what is selected in hand: the next thing that Enter is pressed on is where it goes. */
function take(purpose) {
  if (pickUp(here(), purpose)) focusOn(view.focused, true);
}

function here() {
  return view.picture?.reachable.get(view.focused)?.thing;
}

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  const typing = ["TEXTAREA", "INPUT", "SELECT"].includes(document.activeElement?.tagName);
  if (event.ctrlKey || event.metaKey) return control(event, typing);
  if (event.key === "Escape") return escape();
  if (typing || event.altKey || at("view-parse").hidden || !state.parse) return;
  const done = onTree(event) || digit(event) || label(event) || command(event);
  if (done) event.preventDefault();
});

function control(event, typing) {
  const key = event.key.toLowerCase();
  const action = key === "enter" ? () => accept() : typing ? null : key === "z" ? () => walk(event.shiftKey ? 1 : -1) : key === "y" ? () => walk(1) : null;
  if (!action) return;
  event.preventDefault();
  action();
}

/** From the panel back to the tree; from the tree out of the selection. */
function escape() {
  arm(null);
  if (isHolding()) return letGo();
  if (view.picture && at("editor").contains(document.activeElement)) return focusOn(view.focused, true);
  if (view.picture) mark(null);
  select(null);
}

function letGo() {
  putBack();
  showDrop(null);
}

function command({ key, repeat }) {
  if (!COMMANDS[key] || (repeat && "asU".includes(key))) return false;
  COMMANDS[key]();
  return true;
}

function digit({ key }) {
  return /^[1-9]$/.test(key) && view.selected && choose(Number(key));
}

/** A capital letter gives the selected thing its label. */
function label({ key, shiftKey }) {
  const wanted = shiftKey && key !== "U" ? labelKeys()[key] : undefined, thing = view.selected;
  if (!wanted || !thing) return false;
  if (thing.span) correct({ kind: "span", first: thing.span[0], end: thing.span[1], label: wanted });
  else if (thing.node && !thing.node.isTag) correct({ kind: "span", first: thing.node.first, end: thing.node.end, label: wanted, instead: thing.node.label });
  else if (state.parse.kind === "dependency") correct({ kind: "relation", word: thing.word ?? thing.arc, relation: wanted });
  else return false;
  return true;
}

/** Keys that belong to the tree when the focus is in it. */
function onTree(event) {
  if (!drawing.contains(document.activeElement)) return false;
  const thing = here(), { key } = event;
  if (key.startsWith("Arrow")) return arrow(event, thing);
  if (isHolding() && key === "Enter" && thing) {
    showDrop(null);
    putOn(thing);
  } else if (isHolding() && key === "0") return putOnRoot();
  else if (key === "Enter" && thing) {
    select(state.chosen ? { span: state.chosen } : thing);
    enterEditor();
  } else if (key === " " && thing && canFold(thing)) fold(thing);
  else if (["Delete", "Backspace"].includes(key) && thing) forbid(thing);
  else return key === " ";
  return true;
}

function arrow(event, thing) {
  if (event.shiftKey && thing?.word !== undefined && state.parse.kind === "constituency") extend(thing.word, event.key);
  else {
    const next = thing && document.activeElement !== drawing ? view.picture.move(view.focused, event.key) : view.focused;
    if (next !== undefined) focusOn(next);
  }
  return true;
}

function forbid({ node, arc, word }) {
  if (node && !node.isTag) correct({ kind: "no-span", first: node.first, end: node.end, label: node.label });
  else if (state.parse.kind === "dependency") correct({ kind: "no-head", word: arc ?? word, head: state.parse.trees[state.tree].heads[arc ?? word] });
}

/** Choose more words, or fewer. */
function extend(word, key) {
  const next = word + (key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0);
  if (next < 0 || next >= state.parse.words.length || next === word) return;
  const [low, high] = state.chosen ?? [word, word + 1], anchor = word === low ? high - 1 : low;
  focusOn(`w${next}`, true);
  mark([Math.min(anchor, next), Math.max(anchor, next) + 1]);
  select({ span: state.chosen });
}

/** To the most doubtful node or arc, then to the next. */
function doubtful(step) {
  const things = [...view.picture.reachable].map(([key, { thing }]) => ({ key, doubt: doubtOf(thing) })).filter(({ doubt }) => doubt !== null).sort((a, b) => b.doubt - a.doubt);
  if (!things.length) return;
  const place = things.findIndex(({ key }) => key === view.focused), wasThere = view.selected && place >= 0;
  const { key, doubt } = things[wasThere ? (place + step + things.length) % things.length : 0];
  if (doubt < 0.001) say("The parser is confident about every part of this tree.", true);
  focusOn(key);
}

function doubtOf(thing) {
  const tree = state.parse.trees[state.tree];
  if (thing.node) return thing.node.isTag || thing.node.probability === null || thing.node.parent === null ? null : Math.max(1 - thing.node.probability, likeliestBeside(state.parse, tree, thing.node));
  const sure = tree.confidence[thing.arc] ?? null;
  return sure === null ? null : 1 - sure * relationShare(thing.arc);
}

/** How probable the relation of an arc is, where that is known; what was said of it is certain. */
function relationShare(arc) {
  if (state.fixes.hasHead(arc)) return 1;
  return state.parse.relations.find(({ first, label }) => first === arc && label === state.parse.trees[state.tree].relations[arc])?.probability ?? 1;
}

function enterField() {
  if (!view.selected && here()) select(here());
  at("editor").querySelector("input")?.focus();
}

// What Escape does, for a finger.
at("in-hand").addEventListener("click", () => {
  arm(null);
  if (isHolding()) letGo();
});
drawing.addEventListener("focus", () => view.picture && focusOn(view.focused, true));
