// A tree as an indented list: for long sentences and narrow screens.

import { headName } from "./alternatives.js";
import { colour, html, isRightToLeft, percent } from "./svg.js";
import { shown } from "./tree.js";

export function drawOutline(parse, tree, options) {
  const reachable = new Map();
  const rows = parse.kind === "dependency" ? arcRows(parse, tree, options, reachable) : phraseRows(parse, tree, options, reachable);
  const picture = html("div", { class: "outline", role: "tree", "aria-label": "the tree as a list", dir: isRightToLeft(parse.words) ? "rtl" : "ltr" }, ...rows);
  const keys = [...reachable.keys()];
  return { picture, reachable, move: (from, key) => keys[keys.indexOf(from) + ({ ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[key] ?? 0)] };
}

function row(depth, label, probability, text, name, thing, { act }, reachable, key, fixed) {
  const element = html("div", { class: `line${fixed ? " fixed" : ""}`, role: "treeitem", tabindex: -1, "aria-level": depth + 1, "aria-label": name, style: `--depth:${depth};--c:${colour(probability)}` },
    html("b", {}, label), html("span", {}, text), probability !== null && probability < 0.95 ? html("small", {}, percent(probability)) : null);
  act(element, thing);
  reachable.set(key, { element, thing });
  return element;
}

/** A line for each constituent, with the words that it begins with; words further on have lines of their own. */
function phraseRows(parse, tree, options, reachable) {
  const rows = [];
  const add = (node) => {
    const later = [...node.below];
    const text = node.roof ? `${parse.words[node.first]} … ${parse.words[node.end - 1]}` : leading(later);
    const fixed = options.fixes.hasSpan(node.first, node.end, node.label);
    const made = row(node.depth, node.label, node.probability, text, `${node.label}, ${percent(node.probability)}: ${text}`, { node }, options, reachable, node.key, fixed);
    Object.assign(made.dataset, { label: node.label, first: node.first, end: node.end });
    rows.push(made);
    while (later.length) {
      if (later[0].isTag) rows.push(html("div", { class: "line rest", style: `--depth:${node.depth + 1}` }, html("span", {}, leading(later))));
      else add(later.shift());
    }
  };
  add(shown(tree.nodes, options.collapsed)[0]);
  return rows;
}

/** The words that some children begin with; they are taken off the list. */
function leading(children) {
  const words = [];
  while (children[0]?.isTag) words.push(children.shift().word);
  return words.join(" ");
}

/** One line for each word, under its head. */
function arcRows(parse, tree, options, reachable) {
  const rows = [];
  const add = (word, depth) => {
    const relation = tree.relations[word] === "_" ? "" : tree.relations[word];
    rows.push(row(depth, relation || "·", tree.confidence[word], parse.words[word], `${parse.words[word]}, head ${headName(parse.words, tree.heads[word])}`, { arc: word }, options, reachable, `a${word}`, options.fixes.hasHead(word)));
    tree.heads.forEach((head, other) => head === word + 1 && add(other, depth + 1));
  };
  tree.heads.forEach((head, word) => head === 0 && add(word, 0));
  return rows;
}
