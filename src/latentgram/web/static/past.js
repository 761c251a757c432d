// Earlier decisions: how the same words, and words with the same tags, were analysed in the treebank.

import { ask } from "./api.js";
import { html } from "./svg.js";
import { at, state } from "./work.js";

const SHORTEST = 2, LONGEST = 6;
let turn = 0;

/** Ask how the words of a thing were analysed before, if they are few. */
export async function showPast(thing) {
  const mine = ++turn, box = at("past");
  box.hidden = true;
  const [first, end] = thing?.span ?? (thing?.node ? [thing.node.first, thing.node.end] : [0, 0]);
  if (end - first < SHORTEST || end - first > LONGEST) return;
  await new Promise((resolve) => setTimeout(resolve, 200));
  if (mine !== turn || !state.parse) return;
  const words = state.parse.words.slice(first, end), tags = shownTags().slice(first, end);
  const query = new URLSearchParams([...words.map((word) => ["words", word]), ...tags.map((tag) => ["tags", tag])]);
  const past = await ask("GET", `/api/past?${query}`).catch(() => ({ labels: {}, none: 0 }));
  const parts = [...counted(`“${words.join(" ")}” so far`, past.labels, past.none), ...counted(`${tags.join(" ")} so far`, past.tag_labels ?? {}, past.tag_none ?? 0)];
  if (mine !== turn || !parts.length) return;
  box.replaceChildren(...parts);
  box.hidden = false;
}

/** A heading and how often each label was chosen; nothing if there was nothing to choose. */
function counted(title, labels, none) {
  const rows = [...Object.entries(labels).map(([label, count]) => `${label}: ${count} ×`), ...(none ? [`no constituent: ${none} ×`] : [])];
  return rows.length ? [html("h2", {}, title), html("ul", { class: "plain" }, ...rows.map((row) => html("li", {}, row)))] : [];
}

/** The tags of the words in the tree that is shown; none if they cannot be told. */
function shownTags() {
  const { parse } = state, plain = parse.trees[state.tree]?.plain ?? "";
  const tags = parse.kind === "constituency" ? [...plain.matchAll(/\(([^\s()]+) [^\s()]+\)/g)].map((part) => part[1]) : parse.xpos ?? parse.upos ?? [];
  return tags.length === parse.words.length ? tags : [];
}
