// Trees of one sentence side by side: drawn, and as text, with what differs marked.

import { drawArcs } from "./arcs.js";
import { Fixes } from "./fixes.js";
import { html } from "./svg.js";
import { drawTree } from "./tree.js";

/** How much smaller than elsewhere a tree may be, to be seen whole beside another. */
const READABLE = 0.7;

/** A tree beside others: a drawing and, folded, its text, with what the others have not marked. */
export function rival(text, others, name) {
  return [html("div", { class: "drawing rival", tabindex: 0, role: "img", "aria-label": name }, drawn(readTree(text), others.map(readTree))),
    html("details", { class: "more" }, html("summary", {}, "As text"), html("pre", { tabindex: 0, "aria-label": `${name} as text` }, ...marked(text, others)))];
}

function drawn({ words, tree, parts }, others) {
  const isOwn = (part) => others.some((other) => !other.parts.includes(part));
  const paint = tree.heads.length ? drawArcs : drawTree;
  const changes = { spans: [], added: new Set(parts.filter(isOwn)), arcs: tree.heads.map((_, word) => ({ word })).filter(({ word }) => isOwn(parts[word])) };
  const { picture, width } = paint({ words }, tree, { fixes: new Fixes(), collapsed: new Set(), chosen: null, changes, act: () => {} });
  picture.setAttribute("width", width);
  picture.style.minWidth = `${READABLE * width}px`;
  picture.setAttribute("aria-hidden", "true");
  picture.setAttribute("inert", "");
  return picture;
}

/** A tree of the treebank as it is drawn, and its parts: constituents, or arcs with their relations. */
function readTree(text) {
  return text.startsWith("(") ? readBrackets(text) : readRows(text);
}

function readBrackets(text) {
  const nodes = [], open = [], words = [];
  for (const token of text.match(/\([^()\s]*|\)|[^()\s]+/g) ?? []) {
    if (token.startsWith("(")) {
      nodes.push({ label: token.slice(1), first: words.length, end: words.length, parent: open.at(-1) ?? null, word: null, probability: null });
      open.push(nodes.length - 1);
    } else if (token === ")") nodes[open.pop()].end = words.length;
    else {
      const leaf = nodes[open.at(-1)];
      leaf.word = token;
      if (leaf.label !== "-NONE-") words.push(token);
    }
  }
  return { words, tree: { nodes, heads: [] }, parts: nodes.map(({ first, end, label }) => `${first} ${end} ${label}`) };
}

function readRows(text) {
  const rows = text.split("\n").map((line) => line.split("\t")).filter(([number]) => /^\d+$/.test(number));
  const column = (place) => rows.map((row) => row[place]);
  const tree = { nodes: [], heads: column(6).map(Number), relations: column(7), confidence: rows.map(() => null), rows: { upos: column(3), xpos: column(4), lemma: column(2), feats: column(5) } };
  return { words: column(1), tree, parts: rows.map((row) => row.slice(0, 8).join(" ")) };
}

/** A tree over several lines, with those marked that tell of something another has not. */
function marked(text, others) {
  const there = others.map((other) => new Set(linesOf(other).flatMap(({ parts }) => parts)));
  return linesOf(text).flatMap(({ line, parts }) => [there.every((other) => parts.every((part) => other.has(part))) ? line : html("mark", {}, line), "\n"]);
}

/** Lines with the parts that they tell of: rows of CoNLL-U, or constituents, indented, those over words alone in one. */
function linesOf(text) {
  if (!text.startsWith("(")) return text.trim().split("\n").filter((line) => !line.startsWith("#")).map((line) => ({ line, parts: [line] }));
  const { tree: { nodes } } = readBrackets(text), depth = [];
  const below = nodes.map((_, number) => nodes.filter(({ parent }) => parent === number));
  const isLow = nodes.map(({ word }, number) => word === null && below[number].every((child) => child.word !== null));
  const named = ({ label, first, end }) => `${label} ${first} ${end}`, leaf = ({ label, word }) => `(${label} ${word})`;
  return nodes.flatMap((node, number) => {
    depth.push(node.parent === null ? 0 : depth[node.parent] + 1);
    if (isLow[node.parent]) return []; // It stands in the line of its parent.
    const here = isLow[number] ? `(${[node.label, ...below[number].map(leaf)].join(" ")})` : node.word === null ? node.label : leaf(node);
    return [{ line: "  ".repeat(depth[number]) + here, parts: [node, ...(isLow[number] ? below[number] : [])].map(named) }];
  });
}
