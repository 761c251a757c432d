// The panel beside the tree: what is selected, what else it may be, and what can be said of it by hand.

import { alternatives, headName } from "./alternatives.js";
import { quote } from "./fixes.js";
import { guidelineOf } from "./guidelines.js";
import { showPast } from "./past.js";
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
  if (thing.node && !thing.node.isTag) return [`${thing.node.label}, ${percent(thing.node.probability)}`, thing.node.first === thing.node.end ? "an empty element" : quote(words, thing.node.first, thing.node.end)];
  const word = thing.node?.first ?? thing.tagOf ?? thing.word ?? thing.arc;
  if (parse.kind === "constituency") return ["Word and tag", `“${words[word]}”`];
  return [`Head of “${words[word]}”`, `now ${headName(words, tree.heads[word])}${tree.relations[word] === "_" ? "" : ` as ${tree.relations[word]}`}, ${percent(tree.confidence[word])}`];
}

const button = (text, act, fix, more = {}) => html("button", { type: "button", "data-act": act, onclick: () => say(fix), ...more }, text);

function buttons(parse, tree, thing) {
  if (thing.span) return [html("div", { class: "buttons" }, button("With any label", "unit", { kind: "span", first: thing.span[0], end: thing.span[1], label: null }))];
  if (thing.node && !thing.node.isTag) {
    const { first, end, label } = thing.node;
    if (first === end) return [html("div", { class: "buttons" }, button("Remove the trace", "forbid", { kind: "no-trace", at: first, text: traceText(thing.node) }))];
    return [html("div", { class: "buttons" }, button("Keep it", "keep", { kind: "span", first, end, label }), button(`Not ${label}`, "forbid", { kind: "no-span", first, end, label }),
      button("No constituent", "forbid-all", { kind: "no-span", first, end, label: null }))];
  }
  if (parse.kind === "dependency" && thing.tagOf === undefined) {
    const word = thing.word ?? thing.arc, head = tree.heads[word];
    return [html("div", { class: "buttons" }, button("Keep it", "keep", { kind: "head", word, head }), button(`Not ${headName(parse.words, head)}`, "forbid", { kind: "no-head", word, head }))];
  }
  return [];
}

function traceText(node) {
  return node.word ?? node.below?.map(traceText).find(Boolean) ?? "*";
}

/** A field whose value is said when Enter is pressed. */
function field(caption, list, value, make, check = (text) => text && !/[\s()]/.test(text)) {
  const input = html("input", { type: "text", list, value, placeholder: caption, "aria-label": caption, maxlength: 200, autocomplete: "off" });
  const set = (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (check(text)) say(make(text));
  };
  // While suggestions are open, Enter would only close them.
  input.addEventListener("keydown", (event) => event.key === "Enter" && set(event));
  return html("form", { onsubmit: set }, input, html("button", {}, "Set"));
}

const more = (text, ...parts) => html("details", { class: "more" }, html("summary", {}, text), ...parts);

function fields(parse, tree, thing) {
  if (thing.span) return [field("its label", "labels", undefined, (label) => ({ kind: "span", first: thing.span[0], end: thing.span[1], label }))];
  if (thing.node && !thing.node.isTag) return nodeFields(thing.node);
  const word = thing.node?.first ?? thing.tagOf ?? thing.word ?? thing.arc;
  return parse.kind === "constituency" ? wordFields(parse, word) : rowFields(parse, tree, word, thing.tagOf !== undefined);
}

function nodeFields({ first, end, label }) {
  if (first === end) return [];
  const functions = label.slice(1).includes("-") ? label.slice(label.indexOf("-", 1) + 1) : "";
  return [
    field("another label", "labels", undefined, (other) => ({ kind: "span", first, end, label: other, instead: label })),
    more("More", field("insert a node above", "labels", undefined, (other) => ({ kind: "span", first, end, label: other })),
      field("function tags and index, such as SBJ-1", undefined, functions, (text) => ({ kind: "function", first, end, label, function: text }), (text) => /^[A-Za-z0-9=-]*$/.test(text)),
      field("a trace before it, such as *T*-1", undefined, undefined, (text) => ({ kind: "trace", at: first, mother: [first, end, label], label: "NP", text })),
      field("a trace after it", undefined, undefined, (text) => ({ kind: "trace", at: end, mother: [first, end, label], label: "NP", text }))),
  ];
}

function wordFields(parse, word) {
  return [
    field("another tag", "tags", undefined, (tag) => ({ kind: "tag", word, tag })),
    field("a constituent of this word alone", "labels", undefined, (label) => ({ kind: "span", first: word, end: word + 1, label })),
    tokens(parse, word),
  ];
}

function tokens(parse, word) {
  return more("Split or merge words", field("its parts, separated by a space", undefined, undefined, (text) => ({ kind: "split", word, parts: text.split(/\s+/) }), (text) => text.split(/\s+/).length > 1 && text.replace(/\s+/g, "") === parse.words[word]),
    word + 1 < parse.words.length ? button(`Merge with “${parse.words[word + 1]}”`, "merge", { kind: "merge", word }) : null);
}

function rowFields(parse, tree, word, isTag) {
  const there = ["the root", ...parse.words].map((_, head) => head).filter((head) => head !== word + 1);
  const other = html("select", { "aria-label": "another head" }, html("option", { value: "" }, "another head …"), ...there.map((head) => html("option", { value: head }, headName(parse.words, head))));
  other.addEventListener("change", () => other.value !== "" && say({ kind: "head", word, head: Number(other.value) }));
  const column = (name, caption, list) => field(`${caption}, now ${tree.rows[name]?.[word] ?? "_"}`, list, undefined, (value) => ({ kind: "column", word, column: name, value }), (text) => !/\s/.test(text));
  const columns = [field("tag", "tags", undefined, (tag) => ({ kind: "tag", word, tag })), column("upos", "UPOS"), column("xpos", "XPOS", "tags"), column("lemma", "lemma"), column("feats", "features, such as Number=Sing")];
  if (isTag) return columns;
  return [field(`its relation, now ${tree.relations[word]}`, "relations", undefined, (relation) => ({ kind: "relation", word, relation })), html("form", {}, other), more("Tags, lemma and features", ...columns), tokens(parse, word)];
}
