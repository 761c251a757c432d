// A thing in hand: picked up by a key or a button, it goes to whatever is pointed at next, by keys or by a click.

import { attachmentTo, headName } from "./alternatives.js";
import { correct } from "./asking.js";
import { quote } from "./fixes.js";
import { at, state, tell } from "./work.js";

let held = null;

/** What a target makes of the thing in hand; undefined where it cannot go there. */
const PURPOSES = {
  parent: ({ node }, target) => target.node && !target.node.isTag && target.node.key !== node.key
    ? attachmentTo(state.parse, state.parse.trees[state.tree], node, target.node) : undefined,
  head: (thing, target) => {
    const word = wordOf(thing), head = wordOf(target);
    return head !== undefined && head !== word ? { kind: "head", word, head: head + 1 } : undefined;
  },
  antecedent: ({ node }, target) => target.node && !target.node.isTag && target.node.end > target.node.first
    ? { kind: "coindex", at: node.first, text: traceText(node), to: [target.node.first, target.node.end, target.node.label] } : undefined,
};

const wordOf = ({ word, arc, tagOf }) => word ?? arc ?? tagOf;

/** The text of an empty element. */
export function traceText(node) {
  return node.word ?? node.below?.map(traceText).find(Boolean) ?? "*";
}

/** Take a thing in hand; whether there is something to be done with it. */
export function pickUp(thing, wanted) {
  const purpose = wanted ?? (state.parse.kind === "dependency" ? "head" : "parent");
  if (!thing || (purpose === "head" ? wordOf(thing) === undefined : !thing.node || thing.node.parent === null)) return false;
  held = { thing, purpose, parse: state.parse };
  hint(prompt());
  document.body.classList.add("pointing");
  return true;
}

/** Say what is expected next, under the tree; or nothing any more. */
export function hint(text) {
  at("in-hand").hidden = !text;
  at("in-hand").textContent = text ?? "";
}

function prompt() {
  const { thing, purpose } = held, { words } = state.parse;
  if (purpose === "head") return `What is the head of ${headName(words, wordOf(thing) + 1)}? Click it, or go there and press Enter; 0 is the root, Escape (or a click here) leaves it.`;
  const { node } = thing, name = node.first === node.end ? traceText(node) : `${node.label} ${quote(words, node.first, node.end)}`;
  return `${purpose === "parent" ? `Where does ${name} belong? Click its new parent` : `What does ${name} refer to? Click it`}, or go there and press Enter; Escape (or a click here) leaves it.`;
}

/** Whether something is in hand; what was taken from another tree is not. */
export function isHolding() {
  if (held && held.parse !== state.parse) putBack();
  return held !== null;
}

/** Let go of what is in hand. */
export function putBack() {
  held = null;
  document.body.classList.remove("pointing");
  hint(null);
}

/** Put what is in hand where it belongs. */
export function putOn(target) {
  const fix = PURPOSES[held.purpose](held.thing, target);
  if (!fix) return tell("Not there.");
  putBack();
  return correct(fix);
}

/** Make the word in hand the root. */
export function putOnRoot() {
  if (held.purpose !== "head") return false;
  const word = wordOf(held.thing);
  putBack();
  correct({ kind: "head", word, head: 0 });
  return true;
}
