// What the pointer and the focus are told of a thing.

import { alternatives, headName } from "./alternatives.js";
import { meter } from "./editor.js";
import { quote } from "./fixes.js";
import { html, percent } from "./svg.js";
import { at } from "./work.js";

const tip = at("tip");

export function tipOf(parse, tree, thing) {
  const groups = alternatives(parse, tree, thing).filter((group) => group.rows.length);
  const table = ({ rows }) => html("table", {}, ...rows.map((row) => html("tr", {}, html("td", {}, row.name), html("td", {}, meter(row.probability)), html("td", {}, percent(row.probability)))));
  return [html("b", {}, ...heading(parse, tree, thing)), ...groups.flatMap((group) => [html("p", { class: "caption" }, group.title), table(group)])];
}

function heading(parse, tree, thing) {
  if (thing.node) {
    const { label, first, end, probability } = thing.node;
    return [`${label} `, html("span", { class: "soft" }, `${first === end ? "an empty element" : quote(parse.words, first, end)} `), percent(probability)];
  }
  const word = thing.word ?? thing.arc ?? thing.tagOf;
  if (tree.heads.length && thing.tagOf === undefined) {
    const relation = tree.relations[word] === "_" ? "" : ` (${tree.relations[word]})`;
    return [`${parse.words[word]} → ${headName(parse.words, tree.heads[word])}${relation} `, percent(tree.confidence[word])];
  }
  return [parse.words[word]];
}

export function showTip(element, content, event) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const box = element.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const x = event ? event.clientX : box.left + box.width / 2;
  const below = box.bottom + 10 + own.height < innerHeight;
  tip.style.left = `${Math.max(8, Math.min(innerWidth - own.width - 8, x - own.width / 2))}px`;
  tip.style.top = `${below ? box.bottom + 10 : Math.max(8, box.top - own.height - 10)}px`;
}

export function hideTip() {
  tip.hidden = true;
}
