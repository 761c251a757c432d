// Earlier decisions: how the same words, or words with the same tags, were analysed in the treebank, and how a word
// was attached.

import { ask } from "./api.js";
import { correct } from "./asking.js";
import { html } from "./svg.js";
import { at, state } from "./work.js";

const SHORTEST = 2, LONGEST = 6;
let turn = 0;

/** Ask how a thing was analysed before: a few words, or a word and its head. */
export async function showPast(thing) {
  const mine = ++turn, box = at("past");
  box.hidden = true;
  const question = thing && state.parse && (state.parse.kind === "dependency" ? ofArc(thing.arc ?? thing.word) : ofWords(thing));
  if (!question) return;
  await new Promise((resolve) => setTimeout(resolve, 200));
  if (mine !== turn || !state.parse) return;
  const past = await ask("GET", `/api/past?${new URLSearchParams(question.query)}`).catch(() => ({ labels: {}, none: 0 }));
  const parts = [...counted(question, question.title, past.labels, past.none), ...counted(question, question.wider, past.tag_labels ?? {}, past.tag_none ?? 0)];
  if (mine !== turn || !parts.length) return;
  box.replaceChildren(...parts);
  box.hidden = false;
}

/** How these words were bracketed, and all words with these tags. */
function ofWords({ span, node }) {
  const now = node?.label, fix = (label) => ({ kind: "span", first, end, label, ...(now && now !== label ? { instead: now } : {}) });
  const [first, end] = span ?? (node ? [node.first, node.end] : [0, 0]);
  if (end - first < SHORTEST || end - first > LONGEST) return null;
  const words = state.parse.words.slice(first, end), tags = shownTags().slice(first, end);
  const query = [...words.map((word) => ["words", word]), ...tags.map((tag) => ["tags", tag])];
  return { query, title: `“${words.join(" ")}” so far`, wider: `${tags.join(" ")} so far`, none: "no constituent", fix };
}

/** How this word was attached to this head, and to any. */
function ofArc(word) {
  if (word === undefined) return null;
  const { words, trees } = state.parse, head = trees[state.tree].heads[word], name = head ? words[head - 1] : "";
  return { query: [["words", words[word]], ["head", name]], title: `“${words[word]}” under ${head ? `“${name}”` : "the root"} so far`, wider: `“${words[word]}” so far`, none: "another head", fix: (label) => ({ kind: "relation", word, relation: label.split(" of ")[0] }) };
}

/** A heading and how often each label was chosen, which may be chosen again; nothing if there was nothing to choose. */
function counted({ fix, none: otherwise }, title, labels, none) {
  const again = ([label, count]) => html("button", { type: "button", class: "link", title: "Choose this again", onclick: () => correct(fix(label)) }, `${label}: ${count} ×`);
  const rows = [...Object.entries(labels).map(again), ...(none ? [`${otherwise}: ${none} ×`] : [])];
  return rows.length ? [html("h2", {}, title), html("ul", { class: "plain" }, ...rows.map((row) => html("li", {}, row)))] : [];
}

/** The tags of the words in the tree that is shown; none if they cannot be told. */
function shownTags() {
  const { parse } = state, plain = parse.trees[state.tree]?.plain ?? "";
  const tags = parse.kind === "constituency" ? [...plain.matchAll(/\(([^\s()]+) [^\s()]+\)/g)].map((part) => part[1]) : parse.xpos ?? parse.upos ?? [];
  return tags.length === parse.words.length ? tags : [];
}
