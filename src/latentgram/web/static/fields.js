// The fields of the panel: what is typed about a node, a word or an arc.

import { headName } from "./alternatives.js";
import { correct } from "./asking.js";
import { COLUMNS, parsedColumn } from "./columns.js";
import { traceText } from "./picking.js";
import { html } from "./svg.js";

const LABEL = { check: (text) => text && !/[\s()]/.test(text), problem: "One name, without spaces and brackets" };
const FUNCTIONS = { check: (text) => /^[A-Za-z0-9=-]*$/.test(text), problem: "Letters and digits, joined by hyphens: SBJ, SBJ-1, LOC-PRD" };
const TRACE = { check: (text) => /^[^\s()]+( [^\s()]+)?$/.test(text), problem: "A trace, or its label and a trace: *T*-1, ADVP *T*-1" };
const COLUMN = { check: (text) => !/\s/.test(text), problem: "No spaces" };
const BARE = ["0", "*U*", "*?*"];

/** A field whose value is said when Enter is pressed; what cannot be meant is told at the field. */
function field(caption, make, { list, value, name, check, problem } = LABEL) {
  const input = html("input", { type: "text", list, value, placeholder: caption, "aria-label": name ?? caption, maxlength: 200, autocomplete: "off", spellcheck: "false" });
  const set = (event) => {
    event.preventDefault();
    const text = input.value.trim();
    input.setCustomValidity(check(text) ? "" : problem);
    if (input.reportValidity()) correct(make(text));
  };
  input.addEventListener("input", () => input.setCustomValidity(""));
  // While suggestions are open, Enter would only close them.
  input.addEventListener("keydown", (event) => event.key === "Enter" && set(event));
  return html("form", { onsubmit: set, class: name ? "named" : undefined, novalidate: true }, name ? html("span", { "aria-hidden": "true" }, name) : null, input, html("button", {}, "Set"));
}

const more = (text, ...parts) => html("details", { class: "more" }, html("summary", {}, text), ...parts);

/** All fields for a thing. */
export function fields(parse, tree, thing) {
  const { node, span } = thing;
  if (span) return [field("its label", (label) => ({ kind: "span", first: span[0], end: span[1], label }), { ...LABEL, list: "labels" })];
  if (node && node.first === node.end) return emptyFields(node);
  if (node && !node.isTag) return nodeFields(node);
  const word = node?.first ?? thing.tagOf ?? thing.word ?? thing.arc;
  if (parse.kind === "constituency") return wordFields(parse, word);
  return thing.tagOf === undefined ? arcFields(parse, tree, word) : columnFields(tree, word);
}

function functionField({ first, end, label }) {
  const value = label.slice(1).includes("-") ? label.slice(label.indexOf("-", 1) + 1) : "";
  return field("function tags and index, such as SBJ-1", (text) => ({ kind: "function", first, end, label, function: text }), { ...FUNCTIONS, value });
}

function nodeFields(node) {
  const { first, end, label } = node, mother = [first, end, label];
  return [
    field("another label", (other) => ({ kind: "span", first, end, label: other, instead: label }), { ...LABEL, list: "labels" }),
    more("More", field("insert a node above", (other) => ({ kind: "span", first, end, label: other }), { ...LABEL, list: "labels" }), functionField(node),
      field("a trace at its beginning: *T*-1, ADVP *T*-1", (text) => ({ kind: "trace", at: first, mother, ...traceOf(text) }), TRACE),
      field("a trace at its end", (text) => ({ kind: "trace", at: end, mother, ...traceOf(text) }), TRACE)),
  ];
}

/** `*T*-1` stands under an NP, `ADVP *T*-1` under an ADVP, `0` under nothing of its own. */
function traceOf(typed) {
  const [text, label] = typed.split(" ").reverse();
  return { text, label: label === "-NONE-" ? null : label ?? (BARE.includes(text) ? null : "NP") };
}

function emptyFields(node) {
  const { first: at, label } = node, old = traceText(node);
  const text = field("such as *T*-1", (now) => ({ kind: "trace", at, mother: [at, at, label], text: now, instead: old }), { ...LABEL, value: old, name: "trace" });
  if (node.isTag) return [text];
  return [text, field("another label", (other) => ({ kind: "span", first: at, end: at, label: other, instead: label, by_hand: true }), { ...LABEL, list: "labels" }), functionField(node)];
}

function wordFields(parse, word) {
  return [
    field("another tag", (tag) => ({ kind: "tag", word, tag }), { ...LABEL, list: "tags" }),
    field("a constituent of this word alone", (label) => ({ kind: "span", first: word, end: word + 1, label }), { ...LABEL, list: "labels" }),
    tokenFields(parse, word),
  ];
}

/** The parts of a word make it up; in CoNLL-U a token may also be written for other words, as *du* for *de le*. */
function tokenFields({ words, kind }, word) {
  const isSplit = (text) => /\s/.test(text) && (kind === "dependency" || text.replace(/\s+/g, "") === words[word]);
  const merge = () => correct({ kind: "merge", word });
  return more("Split or merge words", field("its parts, separated by a space", (text) => ({ kind: "split", word, parts: text.split(/\s+/) }), { check: isSplit, problem: `Put spaces into ${words[word]}`, value: words[word] }),
    word + 1 < words.length ? html("button", { type: "button", "data-act": "merge", onclick: merge }, `Merge with “${words[word + 1]}”`) : null);
}

function arcFields(parse, tree, word) {
  const heads = [0, ...parse.words.map((_, place) => place + 1)].filter((head) => head !== word + 1);
  const other = html("select", { "aria-label": "another head" }, html("option", { value: "" }, "another head …"), ...heads.map((head) => html("option", { value: head }, headName(parse.words, head))));
  other.addEventListener("change", () => other.value !== "" && correct({ kind: "head", word, head: Number(other.value) }));
  return [
    field(`its relation, now ${tree.relations[word]}`, (relation) => ({ kind: "relation", word, relation }), { ...LABEL, list: "relations" }),
    html("form", {}, other), more("Tags, lemma and features", ...columnFields(tree, word)), tokenFields(parse, word),
  ];
}

/** A field for each column; a tag that the parser reads is asked of the parser, the others are only written. */
function columnFields(tree, word) {
  const parsed = parsedColumn(tree.rows);
  return Object.entries(COLUMNS).map(([column, name]) => {
    const now = tree.rows[column]?.[word] ?? "_", isTag = column.endsWith("pos");
    const make = (value) => (column === parsed && !["", "_"].includes(value) ? { kind: "tag", word, tag: value } : { kind: "column", word, column, value });
    const list = column === "upos" ? "universal" : column === "xpos" ? "tags" : undefined;
    return field(now === "_" ? "none" : now, make, { ...COLUMN, list, value: isTag || now === "_" ? undefined : now, name });
  });
}
