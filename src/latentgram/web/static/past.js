// Earlier decisions: how the same words were analysed in the treebank.

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
  const words = state.parse.words.slice(first, end);
  const query = new URLSearchParams(words.map((word) => ["words", word]));
  const { labels, none } = await ask("GET", `/api/past?${query}`).catch(() => ({ labels: {}, none: 0 }));
  const rows = [...Object.entries(labels).map(([label, count]) => `${label}: ${count} ×`), ...(none ? [`no constituent: ${none} ×`] : [])];
  if (mine !== turn || !rows.length) return;
  box.replaceChildren(html("h2", {}, `“${words.join(" ")}” so far`), html("ul", { class: "plain" }, ...rows.map((row) => html("li", {}, row))));
  box.hidden = false;
}
