// A constituency tree: words in a line at the bottom, every node over the middle of its children.

import { colour, isRightToLeft, percent, svg, width } from "./svg.js";

const SIZE = 14, GAP = 16, LEVEL = 46, MARGIN = 14, WORDS = 30;

/** Draw; returns the picture and, for each thing that can be reached by keys, its element. */
export function drawTree(parse, tree, { fixes, collapsed, chosen, changes, act }) {
  const nodes = shown(tree.nodes, collapsed);
  layOut(nodes, parse.words);
  const total = 2 * MARGIN + nodes[0].room, mirrored = isRightToLeft(parse.words);
  if (mirrored) for (const node of nodes) node.x = total - node.x;
  const deepest = Math.max(...nodes.map((node) => node.depth));
  const tagRow = MARGIN + SIZE + deepest * LEVEL;
  for (const node of nodes) node.y = node.isTag || node.roof ? tagRow : MARGIN + SIZE + node.depth * LEVEL;
  const edges = [], marks = [], words = [], reachable = new Map();
  for (const node of nodes) {
    for (const child of node.below) edges.push(edge(node, child));
    if (node.roof) edges.push(roof(node, tagRow));
    const mark = nodeMark(node, fixes, changes, act);
    reachable.set(node.key, { element: mark, thing: { node } });
    marks.push(mark);
    if (!node.isTag) continue;
    const isTrace = node.first === node.end;
    const word = isTrace ? svg("text", { class: "trace", x: node.x, y: tagRow + WORDS, "text-anchor": "middle", "font-size": 13 }, node.word) : wordMark(node.first, node.word, node.x, tagRow + WORDS, chosen, act);
    if (!isTrace) reachable.set(`w${node.first}`, { element: word, thing: { word: node.first } });
    words.push(word);
  }
  const ghosts = ghostRows(changes?.spans ?? [], nodes, tagRow + WORDS + 10);
  const height = tagRow + WORDS + SIZE + MARGIN + ghosts.high;
  const row = svg("g", { class: "words" }, svg("rect", { class: "ground", x: 0, y: tagRow + WORDS - 18, width: total, height: height - tagRow - WORDS + 18 }), ...words, ...ghosts.marks);
  const picture = svg("svg", { viewBox: `0 0 ${total} ${height}`, role: "group", "aria-label": "constituency tree" }, ...edges, ...marks, row);
  return { picture, words: row, width: total, height, reachable, move: (from, key) => move(nodes, from, mirrored ? (FLIPPED[key] ?? key) : key) };
}

export const FLIPPED = { ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" };

/** The nodes to be drawn, with children, depth, and without what is under a collapsed node. */
export function shown(list, collapsed) {
  const nodes = list.map((node, number) => ({ ...node, number, below: [], isTag: node.word !== null })), hidden = new Set(), seen = new Map();
  for (const node of nodes) {
    const above = node.parent === null ? null : nodes[node.parent], name = `n${node.first}-${node.end}-${node.label}`, copy = seen.get(name) ?? 0;
    seen.set(name, copy + 1);
    node.key = copy ? `${name}#${copy}` : name;
    node.above = above;
    node.depth = above ? above.depth + 1 : 0;
    if (above && (hidden.has(above) || above.roof)) hidden.add(node);
    else if (above) above.below.push(node);
    node.roof = !node.isTag && collapsed.has(`${node.first}-${node.end}-${node.label}`);
  }
  return nodes.filter((node) => !hidden.has(node));
}

function layOut(nodes, words) {
  for (const node of [...nodes].reverse()) {
    const beside = doubt(node) ? 2 * width(doubt(node), 11, 600) : 0; // the number at its right, and as much at its left
    node.own = Math.max(width(node.label, SIZE, 600) + 14 + beside, node.isTag ? width(node.word, 15) : 0) + GAP;
    if (node.roof) {
      node.yield = node.end - node.first > 3 ? `${words[node.first]} … ${words[node.end - 1]}` : words.slice(node.first, node.end).join(" ");
      node.own = Math.max(node.own, width(node.yield, 13) + 2 * GAP);
    }
    node.room = Math.max(node.own, node.below.reduce((sum, child) => sum + child.room, 0));
  }
  nodes[0].left = MARGIN;
  for (const node of nodes) {
    let at = node.left + (node.room - node.below.reduce((sum, child) => sum + child.room, 0)) / 2;
    for (const child of node.below) {
      child.left = at;
      at += child.room;
    }
  }
  for (const node of [...nodes].reverse()) {
    node.x = node.below.length ? (node.below[0].x + node.below.at(-1).x) / 2 : node.left + node.room / 2;
  }
}

/** Down, along, and down the child's own column, so that no edge crosses another. */
function edge(node, child) {
  const from = node.y + 9, to = child.y - (child.isTag ? 11 : 13), level = from + 11, aside = child.x - node.x;
  const round = Math.min(9, Math.abs(aside) / 2, to - level), turn = Math.sign(aside) * round;
  if (Math.abs(aside) < 10) return svg("path", { class: "edge", d: `M${node.x},${from} C${node.x},${level + 8} ${child.x},${from} ${child.x},${level + 8} V${to}` });
  return svg("path", { class: "edge", d: `M${node.x},${from} V${level - round} q0,${round} ${turn},${round} H${child.x - turn} q${turn},0 ${turn},${round} V${to}` });
}

function roof(node, row) {
  const half = width(node.yield, 13) / 2 + 8, top = node.y + 9, base = row + WORDS - SIZE;
  return svg("g", {}, svg("path", { class: "roof", d: `M${node.x},${top} L${node.x - half},${base} L${node.x + half},${base} Z` }),
    svg("text", { x: node.x, y: row + WORDS, "text-anchor": "middle", "font-size": 13 }, node.yield));
}

/** The probability that stands beside a constituent that is not certain. */
function doubt({ isTag, probability }) {
  return !isTag && probability !== null && probability < 0.95 ? probability.toFixed(2).slice(1) : "";
}

function nodeMark(node, fixes, changes, act) {
  const wide = width(node.label, node.isTag ? 12 : SIZE, 600) + 14;
  const fixed = node.isTag ? fixes.hasTag(node.first) : fixes.hasSpan(node.first, node.end, node.label);
  const isNew = changes?.added.has(`${node.first} ${node.end} ${node.label}`), number = doubt(node);
  const group = svg("g", {
    class: `node${node.isTag ? " tag" : ""}${fixed ? " fixed" : ""}${isNew && !fixed ? " new" : ""}`, tabindex: -1, role: "button", style: `--c:${colour(node.probability)}`,
    "aria-label": `${node.label} ${number} over ${node.end - node.first} words, ${percent(node.probability)}${fixed ? ", fixed by you" : ""}${isNew ? ", new" : ""}`,
    "data-label": node.label, "data-first": node.first, "data-end": node.end,
  },
  svg("rect", { x: node.x - wide / 2, y: node.y - 13, width: wide, height: 22, rx: 7 }),
  svg("text", { x: node.x, y: node.y + 3, "text-anchor": "middle", "font-size": node.isTag ? 12 : SIZE }, node.label),
  number ? svg("text", { class: "small", x: node.x + wide / 2 + 4, y: node.y + 3, "font-size": 11 }, ` ${number}`) : null);
  act(group, { node });
  return group;
}

export function wordMark(word, text, x, y, chosen, act) {
  const wide = width(text, 15) + 10;
  const isChosen = chosen && word >= chosen[0] && word < chosen[1];
  const group = svg("g", { class: `word${isChosen ? " chosen" : ""}`, tabindex: -1, role: "button", "aria-label": `word ${word + 1}: ${text}`, "data-word": word },
    svg("rect", { x: x - wide / 2, y: y - 17, width: wide, height: 23, rx: 5 }),
    svg("text", { x, y, "text-anchor": "middle", "font-size": 15 }, text));
  act(group, { word });
  return group;
}

/** Constituents that a correction took away: dashed brackets under their words. */
function ghostRows(spans, nodes, top) {
  const place = new Map(nodes.filter((node) => node.isTag && node.end > node.first).map((node) => [node.first, node.x]));
  const drawn = spans.filter(({ first, end }) => place.has(first) && place.has(end - 1)).sort((a, b) => a.end - a.first - b.end + b.first).slice(0, 5);
  const marks = drawn.map(({ first, end, label }, row) => {
    const [left, right] = [place.get(first), place.get(end - 1)].sort((a, b) => a - b), y = top + row * 13;
    return svg("g", { class: "ghost" }, svg("path", { d: `M${left - 8},${y} v5 H${right + 8} v-5` }), svg("text", { x: (left + right) / 2, y: y + 8, "text-anchor": "middle", "font-size": 10 }, label));
  });
  return { marks, high: drawn.length * 13 };
}

/** Where an arrow key leads: up to the mother, down to the first child, aside to the sisters, or to cousins. */
function move(nodes, from, key) {
  const tags = nodes.filter((node) => node.isTag && node.end > node.first);
  if (String(from).startsWith("w")) {
    const word = Number(from.slice(1));
    if (key === "ArrowUp") return tags.find((node) => node.first === word)?.key;
    const next = word + (key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0);
    return tags.some((node) => node.first === next) ? `w${next}` : undefined;
  }
  const node = nodes.find((each) => each.key === from);
  if (!node) return nodes[0].key;
  if (key === "ArrowUp") return node.above?.key;
  if (key === "ArrowDown") return node.isTag ? (node.end > node.first ? `w${node.first}` : undefined) : node.below[0]?.key;
  const step = key === "ArrowRight" ? 1 : -1, sisters = node.above?.below ?? [], sister = sisters[sisters.indexOf(node) + step];
  if (sister) return sister.key;
  const row = nodes.filter((other) => (node.isTag ? other.isTag : !other.isTag && other.depth === node.depth));
  return row[row.indexOf(node) + step]?.key;
}
