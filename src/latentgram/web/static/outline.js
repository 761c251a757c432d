// A tree as an indented list: for long sentences and narrow screens. Lines hold items, each of which can be selected.

import { headName } from "./alternatives.js";
import { colour, html, isRightToLeft, percent } from "./svg.js";
import { shown } from "./tree.js";

export function drawOutline(parse, tree, options) {
  const reachable = new Map(), rows = [];
  const item = (key, thing, attributes, ...content) => {
    const element = html("span", { role: "treeitem", tabindex: -1, ...attributes }, ...content);
    options.act(element, thing);
    reachable.set(key, { element, thing });
    return element;
  };
  const line = (depth, ...content) => rows.push(html("div", { class: "line", role: "none", style: `--depth:${depth}` }, ...content));
  if (parse.kind === "dependency") addArcs(parse, tree, options, item, line);
  else addPhrase(shown(tree.nodes, options.collapsed)[0], parse.words, options, item, line);
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

const doubt = (probability) => (probability !== null && probability < 0.95 ? html("small", {}, ` ${percent(probability)}`) : null);

/** A line for each constituent, with the words that it begins with; words further on have lines of their own. */
function addPhrase(node, words, options, item, line) {
  const { first, end, label, depth, probability } = node, rest = [...node.below];
  const fixed = options.fixes.hasSpan(first, end, label) ? " fixed" : "";
  const name = item(node.key, { node }, { class: `item${fixed}`, style: `--c:${colour(probability)}`, "aria-level": depth + 1, "data-label": label, "data-first": first, "data-end": end }, html("b", {}, label), doubt(probability));
  line(depth, name, ...(node.roof ? [`${words[first]} … ${words[end - 1]}`] : leadingWords(rest, options, item)));
  while (rest.length) {
    if (rest[0].isTag) line(depth + 1, ...leadingWords(rest, options, item));
    else addPhrase(rest.shift(), words, options, item, line);
  }
}

/** The words that some children begin with, as items; they are taken off the list. A trace is selected as what it is. */
function leadingWords(children, { chosen, fixes }, item) {
  const items = [];
  while (children[0]?.isTag) {
    const leaf = children.shift(), { first, end, word, label } = leaf, isTrace = first === end;
    const marks = `${chosen && first >= chosen[0] && first < chosen[1] ? " chosen" : ""}${fixes.hasTag(first) ? " fixed" : ""}`;
    items.push(item(isTrace ? leaf.key : `w${first}`, isTrace ? { node: leaf } : { word: first }, { class: `word${marks}`, "aria-level": leaf.depth + 1, title: label, "data-word": isTrace ? undefined : first }, word));
  }
  return items;
}

/** One line for each word, under its head. */
function addArcs({ words }, { heads, relations, confidence }, { fixes }, item, line) {
  const add = (word, depth) => {
    const relation = relations[word] === "_" ? "·" : relations[word];
    line(depth, item(`a${word}`, { arc: word }, { class: `item${fixes.hasHead(word) ? " fixed" : ""}`, style: `--c:${colour(confidence[word])}`, "aria-level": depth + 1 },
      html("b", {}, relation), ` ${words[word]}`, doubt(confidence[word]), html("span", { class: "hidden" }, `, head ${headName(words, heads[word])}`)));
    heads.forEach((head, other) => head === word + 1 && add(other, depth + 1));
  };
  heads.forEach((head, word) => head === 0 && add(word, 0));
}
