// People: how far the queue is, who did how much and is to do what, how they agree, and the trees to be decided.

import { ask } from "./api.js";
import { openTree } from "./asking.js";
import { progressText } from "./queue.js";
import { rival } from "./rivals.js";
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
  const opened = new Set([...at("people").querySelectorAll(".dispute[open]")].map((each) => each.dataset.sentence));
  at("people").replaceChildren(...parts);
  for (const each of at("people").querySelectorAll(".dispute")) each.open = opened.has(each.dataset.sentence);
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
    ...rival(tree.tree, trees.filter((other) => other !== tree).map((other) => other.tree), `The tree of ${nameOf(tree.annotator)}`),
    html("div", { class: "buttons" }, html("button", { onclick: singly(() => settle(sentence, tree.id)) }, "This one stays"),
      tree.place === "file" ? html("button", { title: "Open it, and correct it", onclick: () => openTree(words, tree.tree, { number: 0, text: tree.tree, from: "people" }) }, "Correct it …") : null)));
  return html("details", { class: "dispute", "data-sentence": sentence }, html("summary", {}, words.join(" ")), html("div", { class: "pair" }, ...rivals));
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
