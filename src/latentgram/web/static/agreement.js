// People: how far the queue is, who did how much and is to do what, how they agree, and the trees to be decided.

import { ask } from "./api.js";
import { openTree } from "./asking.js";
import { progressText } from "./queue.js";
import { html } from "./svg.js";
import { annotator, at, say } from "./work.js";

export async function showPeople() {
  const { people, pairs, disputes, progress, unassigned } = await ask("GET", "/api/people");
  const parts = [html("h2", {}, "Annotators")];
  if (progress.total) parts.push(html("p", { class: "progress-line" }, progressText(progress), html("span", { class: "soft" }, ` · ${unassigned.toLocaleString("en")} given to nobody yet`)));
  if (!people.length) parts.push(html("p", { class: "soft" }, "Nobody has accepted a tree yet, and nothing was given out: in Queue, “Give to …” says who is to do a sentence."));
  else parts.push(table(["", "trees", "words", "corrections", "right before", "per hour", "last", "given, not done"], people.map((each) => [nameOf(each.name), each.trees, each.words, each.fixes, each.agreement === null ? "–" : `${figure(each.agreement)} %`, each.per_hour === null ? "–" : Math.round(each.per_hour), each.last ? when(each.last) : "–", each.waiting])));
  parts.push(html("h2", {}, "Agreement"));
  if (!pairs.length) parts.push(html("p", { class: "soft" }, "No sentence has trees by two people: start with --double 0.1 to give a tenth to two."));
  else parts.push(table(["", "sentences", "same tree", ...(pairs[0].agreement.uas === null ? ["F1"] : ["UAS", "LAS"]), "κ"], pairs.map(({ names, agreement: { sentences, same, f1, uas, las, kappa } }) => [names.map(nameOf).join(" and "), sentences, same, ...(uas === null ? [figure(f1)] : [figure(uas), figure(las)]), kappa === null ? "–" : kappa.toFixed(2)])));
  parts.push(html("h2", {}, disputes.length ? `To be decided: ${disputes.length}` : "To be decided"));
  if (disputes.length) parts.push(...disputes.map(dispute));
  else parts.push(html("p", { class: "soft" }, "Nothing: no two trees of a sentence differ."));
  at("people").replaceChildren(...parts);
}

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
    html("div", { class: "buttons" }, html("button", { onclick: () => settle(sentence, tree.id) }, "This one stays"),
      tree.place === "file" ? html("button", { title: "Open it, and correct it", onclick: () => openTree(words, tree.tree, { number: 0, text: tree.tree, from: "people" }) }, "Correct it …") : null)));
  return html("details", { class: "dispute" }, html("summary", {}, words.join(" ")), html("div", { class: "pair" }, ...rivals));
}

/** A tree over several lines, with the lines marked that another has not. */
function marked(text, others) {
  const lines = (tree) => (tree.startsWith("(") ? indented(tree) : tree.trim().split("\n").filter((line) => !line.startsWith("#")));
  const there = others.map((other) => new Set(lines(other)));
  return lines(text).flatMap((line) => [there.every((other) => other.has(line)) ? line : html("mark", {}, line), "\n"]);
}

/** A line for each constituent, indented; one over words alone stands on one line. */
function indented(text) {
  const stack = [[]];
  for (const token of text.match(/\(|\)|[^()\s]+/g) ?? []) {
    if (token === "(") stack.push([]);
    else if (token === ")") stack.at(-2).push(stack.pop());
    else stack.at(-1).push(token);
  }
  const isText = (part) => typeof part === "string", isLow = (node) => node.every((part) => isText(part) || part.every(isText));
  const flat = (part) => (isText(part) ? part : `(${part.map(flat).join(" ")})`);
  const lines = (node, depth) => {
    const label = isText(node[0]) ? node[0] : "", below = isText(node[0]) ? node.slice(1) : node;
    return isLow(node) ? ["  ".repeat(depth) + flat(node)] : ["  ".repeat(depth) + label, ...below.flatMap((child) => lines(child, depth + 1))];
  };
  return stack[0].flatMap((tree) => lines(tree, 0));
}

async function settle(sentence, chosen) {
  try {
    const { detail } = await ask("POST", "/api/settle", { id: crypto.randomUUID?.() ?? `settle-${Date.now()}`, sentence, chosen, annotator: annotator() });
    await showPeople();
    say(detail, true);
  } catch (error) {
    say(error.message);
  }
}
