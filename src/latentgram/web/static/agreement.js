// Annotators: who did how much, how they agree, and the trees on which they do not, side by side.

import { ask } from "./api.js";
import { html } from "./svg.js";
import { annotator, at, say } from "./work.js";

export async function showPeople(again) {
  const { people, pairs, disputes } = await ask("GET", "/api/people");
  const parts = [html("h2", {}, "Annotators")];
  if (!people.length) parts.push(html("p", { class: "soft" }, "Nobody has accepted a tree yet."));
  else parts.push(table(["", "trees", "words", "corrections", "per hour"], people.map((each) => [each.name || "without a name", each.trees, each.words, each.fixes, each.per_hour === null ? "–" : Math.round(each.per_hour)])));
  if (pairs.length) parts.push(html("h2", {}, "Agreement"), table(["", "sentences", "same tree", "F1 or UAS", "LAS", "κ"], pairs.map((each) => [each.names.map((name) => name || "without a name").join(" and "), each.agreement.sentences, each.agreement.same, figure(each.agreement.f1 ?? each.agreement.uas), figure(each.agreement.las), each.agreement.kappa === null ? "–" : each.agreement.kappa.toFixed(2)])));
  if (disputes.length) parts.push(html("h2", {}, "To be decided"), ...disputes.map((each) => dispute(each, again)));
  at("people").replaceChildren(...parts);
}

const figure = (value) => (value === null ? "–" : value.toFixed(1));

function table(head, rows) {
  return html("table", { class: "figures-table" }, html("thead", {}, html("tr", {}, ...head.map((text) => html("th", { scope: "col" }, text)))), html("tbody", {}, ...rows.map((row) => html("tr", {}, ...row.map((value) => html("td", {}, String(value)))))));
}

function dispute({ sentence, words, trees }, again) {
  const rivals = trees.slice(0, 2).map((tree, place) => html("div", {}, html("b", {}, tree.annotator || "without a name"), tree.place === "file" ? " · in the treebank" : "", html("pre", {}, ...marked(tree.tree, trees[1 - place]?.tree ?? "")),
    html("button", { onclick: () => settle(sentence, tree.id, again) }, "This one stays")));
  return html("details", { class: "dispute" }, html("summary", {}, words.join(" ")), html("div", { class: "pair" }, ...rivals));
}

/** A tree over several lines, with the lines marked that the other has not. */
function marked(text, other) {
  const lines = (tree) => (tree.startsWith("(") ? indented(tree) : tree.trim().split("\n"));
  const there = new Set(lines(other));
  return lines(text).flatMap((line) => [there.has(line) ? line : html("mark", {}, line), "\n"]);
}

/** Brackets, a line for each constituent. */
function indented(text) {
  let depth = 0, line = "";
  const lines = [];
  for (const token of text.match(/\(|\)|[^()\s]+/g) ?? []) {
    if (token === "(") {
      if (line.trim()) lines.push(line);
      line = `${"  ".repeat(depth)}(`;
      depth += 1;
    } else if (token === ")") {
      depth -= 1;
      line += ")";
    } else line += line.endsWith("(") ? token : ` ${token}`;
  }
  return [...lines, line];
}

async function settle(sentence, chosen, again) {
  try {
    const { detail } = await ask("POST", "/api/settle", { id: crypto.randomUUID?.() ?? `settle-${Date.now()}`, sentence, chosen, annotator: annotator() });
    await again();
    say(detail, true);
  } catch (error) {
    say(error.message);
  }
}
