// People: how far the queue is, who did how much and is to do what, how they agree, and the trees to be decided.

import { ask } from "./api.js";
import { openTree } from "./asking.js";
import { progressText } from "./queue.js";
import { html } from "./svg.js";
import { annotator, at, newId, say, singly } from "./work.js";

let turn = 0;

export async function showPeople() {
  const mine = ++turn;
  const { people, pairs, disputes, progress, unassigned } = await ask("GET", "/api/people");
  if (mine !== turn) return;
  const parts = [html("h2", {}, "Annotators")];
  if (progress.total) parts.push(html("p", { class: "progress-line" }, progressText(progress), html("span", { class: "soft" }, ` · ${unassigned.toLocaleString("en")} not assigned`)));
  if (!people.length) parts.push(html("p", { class: "soft" }, "Nobody has accepted a tree yet, and nothing has been assigned: use “Give to …” in the queue to assign a sentence."));
  else parts.push(table(["", "trees", "words", "corrections", "right before", "per hour", "last", "assigned, not done", "open now"], people.map((each) => [nameOf(each.name), each.trees, each.words, each.fixes, each.agreement === null ? "–" : `${figure(each.agreement)} %`, each.per_hour === null ? "–" : Math.round(each.per_hour), each.last ? when(each.last) : "–", each.waiting, each.holds.map(brief).join(" · ") || "–"])));
  parts.push(html("h2", {}, "Agreement"));
  if (!pairs.length) parts.push(html("p", { class: "soft" }, "No sentence has trees by two people: start with --double 0.1 to give a tenth of the sentences to two people."));
  else parts.push(table(["", "sentences", "same tree", ...(pairs[0].agreement.uas === null ? ["F1"] : ["UAS", "LAS"]), "κ"], pairs.map(({ names, agreement: { sentences, same, f1, uas, las, kappa } }) => [names.map(nameOf).join(" and "), sentences, same, ...(uas === null ? [figure(f1)] : [figure(uas), figure(las)]), kappa === null ? "–" : kappa.toFixed(2)])));
  parts.push(html("h2", {}, disputes.length ? `To be decided: ${disputes.length}` : "To be decided"));
  if (disputes.length) parts.push(...disputes.map(dispute));
  else parts.push(html("p", { class: "soft" }, "Nothing: no sentence has two different trees."));
  at("people").replaceChildren(...parts);
}

const brief = (words) => (words.length > 5 ? `${words.slice(0, 5).join(" ")} …` : words.join(" "));
const nameOf = (name) => name || "without a name";
const figure = (value) => (value === null ? "–" : value.toFixed(1));
const when = (seconds) => new Date(1000 * seconds).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

function table(head, rows) {
  return html("div", { class: "wide", tabindex: 0, role: "group", "aria-label": "Figures" }, html("table", { class: "figures-table" }, html("thead", {}, html("tr", {}, ...head.map((text) => (text ? html("th", { scope: "col" }, text) : html("td", {}))))),
    html("tbody", {}, ...rows.map(([name, ...values]) => html("tr", {}, html("th", { scope: "row" }, name), ...values.map((value) => html("td", {}, String(value))))))));
}

/** The trees of a sentence side by side; one stays, or the one in the treebank is corrected first. */
function dispute({ sentence, words, trees }) {
  const rivals = trees.map((tree) => html("div", {}, html("h3", {}, nameOf(tree.annotator), tree.place === "file" ? html("span", { class: "soft" }, " · in the treebank") : null),
    html("pre", { tabindex: 0, "aria-label": `The tree of ${nameOf(tree.annotator)}` }, ...marked(tree.tree, trees.filter((other) => other !== tree).map((other) => other.tree))),
    html("div", { class: "buttons" }, html("button", { onclick: singly(() => settle(sentence, tree.id)) }, "This one stays"),
      tree.place === "file" ? html("button", { title: "Open it, and correct it", onclick: () => openTree(words, tree.tree, { number: 0, text: tree.tree, from: "people" }) }, "Correct it …") : null)));
  return html("details", { class: "dispute" }, html("summary", {}, words.join(" ")), html("div", { class: "pair" }, ...rivals));
}

/** A tree over several lines, with those marked that tell of something another has not. */
export function marked(text, others) {
  const there = others.map((other) => new Set(linesOf(other).flatMap(({ parts }) => parts)));
  return linesOf(text).flatMap(({ line, parts }) => [there.every((other) => parts.every((part) => other.has(part))) ? line : html("mark", {}, line), "\n"]);
}

/** Lines with the parts that they tell of: rows of CoNLL-U, or constituents, indented, those over words alone in one. */
function linesOf(text) {
  if (!text.startsWith("(")) return text.trim().split("\n").filter((line) => !line.startsWith("#")).map((line) => ({ line, parts: [line] }));
  const stack = [{ label: "", below: [], first: 0 }], lines = [];
  let words = 0;
  for (const token of text.match(/\([^()\s]*|\)|[^()\s]+/g) ?? []) {
    if (token.startsWith("(")) stack.push({ label: token.slice(1), below: [], first: words });
    else if (token === ")") {
      const node = stack.pop();
      stack.at(-1).below.push({ ...node, end: words });
    } else Object.assign(stack.at(-1), { word: token, end: ++words });
  }
  const named = ({ label, first, end }) => `${label} ${first} ${end}`, leaf = ({ label, word }) => `(${label} ${word})`;
  const add = (node, indent) => {
    const isLow = node.below.every((child) => child.word !== undefined);
    if (node.word !== undefined) lines.push({ line: indent + leaf(node), parts: [named(node)] });
    else if (isLow) lines.push({ line: `${indent}(${[node.label, ...node.below.map(leaf)].join(" ")})`, parts: [node, ...node.below].map(named) });
    else {
      lines.push({ line: indent + node.label, parts: [named(node)] });
      for (const child of node.below) add(child, `${indent}  `);
    }
  };
  for (const tree of stack[0].below) add(tree, "");
  return lines;
}

async function settle(sentence, chosen) {
  try {
    const { detail } = await ask("POST", "/api/settle", { id: newId(), sentence, chosen, annotator: annotator() });
    await showPeople();
    say(detail, true);
  } catch (error) {
    say(error.message);
  }
}
