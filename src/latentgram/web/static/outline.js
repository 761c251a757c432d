// A tree as an indented list: for long sentences and narrow screens.

import { headName } from "./alternatives.js";
import { colour, html, isRightToLeft, percent } from "./svg.js";
import { shown } from "./tree.js";

export function drawOutline(parse, tree, options) {
  const reachable = new Map();
  const rows = parse.kind === "dependency" ? arcRows(parse, tree, options, reachable) : phraseRows(parse, tree, options, reachable);
  const picture = html("div", { class: "outline", role: "tree", "aria-label": "the tree as a list", dir: isRightToLeft(parse.words) ? "rtl" : "ltr" }, ...rows);
  return { picture, reachable, move: (from, key) => move([...reachable.keys()], from, key) };
}

/** Up and down from line to line; along the words, and from a line to its first word. */
function move(keys, from, key) {
  const step = ["ArrowDown", "ArrowRight"].includes(key) ? 1 : -1, isAlong = ["ArrowLeft", "ArrowRight"].includes(key);
  let at = keys.indexOf(from) + step;
  while (!isAlong && keys[at]?.startsWith("w")) at += step;
  return keys[at];
}

function row(depth, label, probability, content, name, thing, { act }, reachable, key, fixed) {
  const element = html("div", { class: `line${fixed ? " fixed" : ""}`, role: "treeitem", tabindex: -1, "aria-level": depth + 1, "aria-label": name, style: `--depth:${depth};--c:${colour(probability)}` },
    html("b", {}, label), html("span", {}, ...content), probability !== null && probability < 0.95 ? html("small", {}, percent(probability)) : null);
  act(element, thing);
  reachable.set(key, { element, thing });
  return element;
}

/** A line for each constituent, with the words that it begins with; words further on have lines of their own. */
function phraseRows(parse, tree, options, reachable) {
  const rows = [];
  const add = (node) => {
    const later = [...node.below], place = rows.push(null) - 1, leaves = node.roof ? [] : leading(later);
    const text = node.roof ? `${parse.words[node.first]} … ${parse.words[node.end - 1]}` : leaves.map(({ word }) => word).join(" ");
    const fixed = options.fixes.hasSpan(node.first, node.end, node.label), words = leaves.map((leaf) => wordOf(leaf, options));
    rows[place] = row(node.depth, node.label, node.probability, node.roof ? [text] : spaced(words), `${node.label}, ${percent(node.probability)}: ${text}`, { node }, options, reachable, node.key, fixed);
    Object.assign(rows[place].dataset, { label: node.label, first: node.first, end: node.end });
    remember(words, reachable);
    while (later.length) {
      if (!later[0].isTag) add(later.shift());
      else {
        const more = leading(later).map((leaf) => wordOf(leaf, options));
        rows.push(html("div", { class: "line rest", style: `--depth:${node.depth + 1}` }, html("span", {}, ...spaced(more))));
        remember(more, reachable);
      }
    }
  };
  add(shown(tree.nodes, options.collapsed)[0]);
  return rows;
}

/** The words that some children begin with; they are taken off the list. */
function leading(children) {
  const leaves = [];
  while (children[0]?.isTag) leaves.push(children.shift());
  return leaves;
}

/** A word that can be selected, by itself or with others; a trace only as what it is. */
function wordOf(leaf, { act, chosen, fixes }) {
  const isTrace = leaf.first === leaf.end, thing = isTrace ? { node: leaf } : { word: leaf.first };
  const isChosen = chosen && leaf.first >= chosen[0] && leaf.first < chosen[1];
  const element = html("span", { class: `word${isChosen ? " chosen" : ""}${fixes.hasTag(leaf.first) ? " fixed" : ""}`, role: "button", tabindex: -1, "data-word": isTrace ? undefined : leaf.first, "aria-label": `${leaf.word}, ${leaf.label}`, title: leaf.label }, leaf.word);
  act(element, thing);
  return { element, thing, key: isTrace ? leaf.key : `w${leaf.first}` };
}

const spaced = (words) => words.flatMap(({ element }) => [element, " "]);

function remember(words, reachable) {
  for (const { element, thing, key } of words) reachable.set(key, { element, thing });
}

/** One line for each word, under its head. */
function arcRows(parse, tree, options, reachable) {
  const rows = [];
  const add = (word, depth) => {
    const relation = tree.relations[word] === "_" ? "" : tree.relations[word];
    rows.push(row(depth, relation || "·", tree.confidence[word], [parse.words[word]], `${parse.words[word]}, head ${headName(parse.words, tree.heads[word])}`, { arc: word }, options, reachable, `a${word}`, options.fixes.hasHead(word)));
    tree.heads.forEach((head, other) => head === word + 1 && add(other, depth + 1));
  };
  tree.heads.forEach((head, word) => head === 0 && add(word, 0));
  return rows;
}
