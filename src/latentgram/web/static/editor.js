// The panel beside the tree: what is selected, what else it may be, and what can be said of it by hand.

import { alternatives, headName } from "./alternatives.js";
import { fields } from "./fields.js";
import { quote } from "./fixes.js";
import { guidelineOf } from "./guidelines.js";
import { showPast } from "./past.js";
import { pickUp, traceText } from "./picking.js";
import { unmetCorrections } from "./showing.js";
import { colour, html, percent } from "./svg.js";
import { at, state, view } from "./work.js";

const panel = at("editor");
let choices = [], say = () => {};

export function startEditor(onFix) {
  say = onFix;
}

/** Show the panel for a thing, or close it. */
export function select(thing) {
  view.selected = thing;
  panel.hidden = !thing || !state.parse;
  showPast(thing);
  if (panel.hidden) return panel.replaceChildren();
  const { parse } = state, tree = parse.trees[state.tree];
  choices = [];
  const groups = alternatives(parse, tree, thing);
  panel.replaceChildren(...title(parse, tree, thing), ...unmetCorrections(), ...buttons(parse, tree, thing), ...groups.flatMap(group), ...fields(parse, tree, thing), ...guidelineOf(labelOf(tree, thing)));
  // On a narrow screen the panel stands at the lower edge: the tree goes up, out of its way.
  const over = at("drawing").getBoundingClientRect().bottom - panel.getBoundingClientRect().top;
  if (over > 0 && getComputedStyle(panel).position === "fixed") scrollBy(0, over);
}

/** Do what stands at a number; whether there is something. */
export function choose(number) {
  const row = choices[number - 1];
  if (row) say(row.fix);
  return Boolean(row);
}

/** Go into the panel by keys. */
export function enterEditor() {
  (panel.querySelector(".choices button") ?? panel.querySelector("input") ?? panel.querySelector("button"))?.focus();
}

/** Whether a node stands over no word. */
const isEmpty = (node) => Boolean(node) && node.first === node.end;

function labelOf(tree, thing) {
  if (thing.node) return thing.node.label;
  const word = thing.word ?? thing.arc;
  return tree.heads.length && word !== undefined ? tree.relations[word] : null;
}

export function meter(probability) {
  return html("span", { class: "meter", style: `width:${Math.max(2, 80 * probability)}px;--c:${colour(probability)}` });
}

function group({ title: text, rows }) {
  if (!rows.length) return [];
  const made = rows.map((row) => {
    const number = choices.push(row);
    return html("button", { type: "button", onclick: () => say(row.fix), "data-choice": number },
      html("kbd", { "aria-hidden": "true" }, number < 10 ? String(number) : ""), html("span", { class: "name" }, row.name), meter(row.probability), html("span", { class: "n" }, percent(row.probability)));
  });
  return [html("h3", {}, text), html("div", { class: "choices" }, ...made)];
}

function title(parse, tree, thing) {
  const close = html("button", { class: "icon close", type: "button", "aria-label": "Close the panel (Escape)", onclick: () => select(null) }, "×");
  const [name, quoted] = named(parse, tree, thing);
  return [html("div", { class: "row spread" }, html("h2", {}, name), close), html("p", { class: "quote" }, quoted)];
}

function named(parse, tree, thing) {
  const { words } = parse;
  if (thing.span) return ["A new constituent", quote(words, ...thing.span)];
  if (isEmpty(thing.node)) return [thing.node.label, `an empty element: ${traceText(thing.node)}`];
  if (thing.node && !thing.node.isTag) return [`${thing.node.label}, ${percent(thing.node.probability)}`, quote(words, thing.node.first, thing.node.end)];
  const word = thing.node?.first ?? thing.tagOf ?? thing.word ?? thing.arc;
  if (thing.tagOf !== undefined) return ["Tags, lemma and features", `“${words[word]}”`];
  if (parse.kind === "constituency") return ["Word and tag", `“${words[word]}”`];
  return [`Head of “${words[word]}”`, `now ${headName(words, tree.heads[word])}${tree.relations[word] === "_" ? "" : ` as ${tree.relations[word]}`}, ${percent(tree.confidence[word])}`];
}

const button = (text, act, fix, more = {}) => html("button", { type: "button", "data-act": act, onclick: () => say(fix), ...more }, text);

function buttons(parse, tree, thing) {
  if (thing.span) return [html("div", { class: "buttons" }, button("With any label", "unit", { kind: "span", first: thing.span[0], end: thing.span[1], label: null }))];
  if (isEmpty(thing.node)) {
    return [html("div", { class: "buttons" }, picker("It refers to …", thing, "antecedent", "Then click what it refers to (i)"),
      button("Remove the trace", "forbid", { kind: "no-trace", at: thing.node.first, text: traceText(thing.node) }))];
  }
  if (thing.node && !thing.node.isTag) {
    const { first, end, label } = thing.node;
    return [html("div", { class: "buttons" }, button("Keep it", "keep", { kind: "span", first, end, label }), button(`Not ${label}`, "forbid", { kind: "no-span", first, end, label }),
      button("No constituent", "forbid-all", { kind: "no-span", first, end, label: null }), thing.node.parent === null ? null : picker("Move …", thing, "parent", "Then click its new parent (m)"))];
  }
  if (parse.kind === "dependency" && thing.tagOf === undefined) {
    const word = thing.word ?? thing.arc, head = tree.heads[word];
    return [html("div", { class: "buttons" }, button("Keep it", "keep", { kind: "head", word, head }), button(`Not ${headName(parse.words, head)}`, "forbid", { kind: "no-head", word, head }))];
  }
  return [];
}

/** A button that takes a thing in hand. */
const picker = (text, thing, purpose, title) => html("button", { type: "button", "data-act": "pick", title, onclick: () => pickUp(thing, purpose) && at("drawing").focus() }, text);
