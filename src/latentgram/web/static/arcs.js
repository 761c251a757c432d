// A dependency tree: words in a line, arcs above from head to modifier, higher the more they span. A folded word
// stands for itself and all that depends on it.

import { COLUMNS, linesOf } from "./columns.js";
import { colour, isRightToLeft, percent, svg, width } from "./svg.js";
import { FLIPPED, wordMark } from "./tree.js";

const MARGIN = 16, GAP = 22, STEP = 27, LINE = 16;

export function drawArcs(parse, tree, { fixes, collapsed, chosen, changes, act }) {
  const words = parse.words, columns = linesOf(tree, words.length), lines = Math.max(0, ...columns.map((each) => each.length));
  const under = words.map((_, m) => descendants(tree.heads, m)), isFolded = words.map((_, m) => collapsed.has(`w${m}`) && under[m].length > 0);
  const hidden = new Set(under.filter((_, m) => isFolded[m]).flat());
  const shown = words.map((_, m) => m).filter((m) => !hidden.has(m));
  const texts = words.map((word, m) => (isFolded[m] ? folded(words, m, under[m]) : word));
  const centre = [];
  let at = MARGIN;
  for (const m of shown) {
    const relation = tree.relations[m] === "_" ? "" : tree.relations[m];
    const room = Math.max(width(texts[m], 15), ...columns[m].map(({ text }) => width(text, 12)), 0.7 * width(relation, 11.5)) + GAP;
    centre[m] = at + room / 2;
    at += room;
  }
  const mirrored = isRightToLeft(words);
  if (mirrored) for (const m of shown) centre[m] = at + MARGIN - centre[m];
  const levels = heights(tree.heads, shown);
  const base = MARGIN + 30 + STEP * Math.max(...levels);
  const reachable = new Map();
  const marks = shown.map((m) => {
    const mark = wordMark(m, texts[m], centre[m], base + 20, chosen, act);
    if (under[m].length) mark.setAttribute("aria-expanded", String(!isFolded[m]));
    mark.classList.toggle("folded", isFolded[m]);
    reachable.set(`w${m}`, { element: mark, thing: { word: m }, foldable: under[m].length > 0 });
    return mark;
  });
  const cells = shown.filter((m) => columns[m].length).map((m) => {
    const mark = columnMark(m, columns[m], centre[m], base + 40, fixes, act);
    reachable.set(`t${m}`, { element: mark, thing: { tagOf: m } });
    return mark;
  });
  const tokens = tokenMarks(tree.multiword ?? [], words, centre, base + 30 + LINE * lines);
  const arcs = shown.map((m) => {
    const mark = arc(parse, tree, m, tree.heads[m], centre, base, levels, fixes, act);
    mark.classList.toggle("new", Boolean(changes?.arcs.some(({ word }) => word === m)));
    reachable.set(`a${m}`, { element: mark, thing: { arc: m }, foldable: under[m].length > 0 });
    return [levels[m], mark];
  });
  // Shorter arcs lie above longer ones, where the pointer finds them.
  const longestFirst = arcs.sort((a, b) => b[0] - a[0]).map(([, mark]) => mark);
  const height = base + 24 + LINE * lines + MARGIN + 8 + (tokens.length ? 24 : 0);
  const ghosts = (changes?.arcs ?? []).filter(({ word, old }) => centre[word] !== undefined && (old === 0 || centre[old - 1] !== undefined)).map(({ word, old }) => ghost(centre, word, old, base));
  const row = svg("g", { class: "words" }, svg("rect", { class: "ground", x: 0, y: base + 1, width: at + MARGIN, height: height - base }), ...marks, ...cells, ...tokens);
  const picture = svg("svg", { viewBox: `0 0 ${at + MARGIN} ${height}`, role: "group", "aria-label": "dependency tree" }, ...ghosts, ...longestFirst, row);
  return { picture, words: row, width: at + MARGIN, height, reachable, move: (from, key) => move(tree.heads, shown, from, mirrored ? (FLIPPED[key] ?? key) : key) };
}

/** Where an arc was before a correction. */
function ghost(centre, word, old, base) {
  if (old === 0) return svg("g", { class: "ghost" }, svg("path", { d: `M${centre[word] + 5},${MARGIN + 16} V${base - 6}` }));
  const [start, end] = [centre[old - 1], centre[word]], top = base - Math.min(base - 20, 18 + Math.abs(end - start) / 3);
  return svg("g", { class: "ghost" }, svg("path", { d: `M${start},${base} C${start},${top} ${end},${top} ${end},${base - 4}` }));
}

/** All words under a word. */
function descendants(heads, word) {
  const found = [word];
  for (const above of found) heads.forEach((head, m) => head === above + 1 && found.push(m));
  return found.slice(1);
}

/** What a folded word says: itself, and the first and the last word of those under it. */
function folded(words, m, under) {
  const all = [m, ...under].sort((a, b) => a - b);
  if (all.length <= 3) return all.map((word) => words[word]).join(" ");
  const [first, last] = [all[0], all.at(-1)];
  return `${first < m ? `${words[first]} … ` : ""}${words[m]}${last > m ? ` … ${words[last]}` : ""}`;
}

/** What the columns say of a word, one line below the other. */
function columnMark(m, lines, x, y, fixes, act) {
  const wide = Math.max(...lines.map(({ text }) => width(text, 12))) + 10;
  const group = svg("g", { class: "node tag", role: "button", tabindex: -1, "aria-label": `${lines.map(({ text }) => text).join(" ")}: ${[...new Set(lines.map(({ name }) => COLUMNS[name]))].join(", ")}`, style: "--c:var(--soft)", "data-tag": m },
    svg("rect", { x: x - wide / 2, y: y - 13, width: wide, height: LINE * lines.length + 3, rx: 5 }),
    ...lines.map(({ name, text }, line) => svg("text", { class: fixes.hasColumn(m, name) ? "set" : name, x, y: y + LINE * line, "text-anchor": "middle", "font-size": 12 }, `${text} `)));
  act(group, { tagOf: m });
  return group;
}

/** Words that are written as one token: a bracket under them, and the token. */
function tokenMarks(tokens, words, centre, y) {
  const seen = tokens.filter(([first, end]) => centre[first] !== undefined && centre[end - 1] !== undefined);
  return seen.map(([first, end, form]) => {
    const reach = (word) => width(words[word], 15) / 2, [left, right] = [first, end - 1].sort((a, b) => centre[a] - centre[b]);
    return svg("g", { class: "token" }, svg("path", { d: `M${centre[left] - reach(left)},${y} v4 H${centre[right] + reach(right)} v-4` }),
      svg("text", { x: (centre[left] + centre[right]) / 2, y: y + 17, "text-anchor": "middle", "font-size": 12 }, form));
  });
}

function arc(parse, tree, m, head, centre, base, levels, fixes, act) {
  const probability = tree.confidence[m], relation = tree.relations[m] === "_" ? "" : tree.relations[m];
  const name = head === 0 ? "the root" : parse.words[head - 1], doubt = probability !== null && probability < 0.95 ? ` ${probability.toFixed(2).slice(1)}` : "";
  const title = (relation || (head === 0 ? "root" : "")) + doubt;
  const group = svg("g", {
    class: `arc${fixes.hasHead(m) ? " fixed" : ""}`, role: "button", tabindex: -1, style: `--c:${colour(probability)}`,
    "aria-label": `${title}: the head of ${parse.words[m]} is ${name}, ${percent(probability)}`, "data-modifier": m, "data-head": head,
  });
  let path, x, y;
  const toRight = head > 0 && centre[head - 1] < centre[m], end = centre[m] + (head === 0 ? 0 : toRight ? -3 : 3);
  if (head === 0) {
    path = `M${centre[m]},${MARGIN + 16} V${base - 6}`;
    [x, y] = [centre[m], MARGIN + 10];
  } else {
    const start = centre[head - 1] + (toRight ? 6 : -6), top = base - STEP * levels[m] - 6;
    const lift = Math.min(18, Math.abs(end - start) / 2.4) * Math.sign(end - start);
    path = `M${start},${base} C${start},${top} ${start},${top} ${start + lift},${top} L${end - lift},${top} C${end},${top} ${end},${top} ${end},${base - 6}`;
    [x, y] = [(start + end) / 2, top - 5.5];
  }
  group.append(svg("path", { d: path }), svg("path", { class: "wide", d: path }),
    svg("path", { class: "head", d: `M${end - 4},${base - 9} L${end + 4},${base - 9} L${end},${base - 1} Z` }),
    svg("text", { x, y, "text-anchor": "middle" }, title));
  act(group, { arc: m });
  return group;
}

/** An arc is one level above the highest arc inside its span; only those of the words shown count. */
function heights(heads, shown) {
  const levels = heads.map(() => 1);
  const spans = heads.map((head, m) => (head === 0 ? null : [Math.min(m, head - 1), Math.max(m, head - 1)]));
  const order = shown.filter((m) => spans[m]).sort((a, b) => spans[a][1] - spans[a][0] - spans[b][1] + spans[b][0]);
  order.forEach((m, place) => {
    const [low, high] = spans[m];
    for (const other of order.slice(0, place)) {
      const [first, last] = spans[other];
      if (low < last && first < high) levels[m] = Math.max(levels[m], levels[other] + 1);
    }
  });
  return levels;
}

/** Where an arrow key leads: along the words; up from a word's columns to the word, its arc, and the head's; down again. */
function move(heads, shown, from, key) {
  const number = Number(String(from).slice(1)), row = String(from)[0];
  if (key === "ArrowUp" && row === "a") return heads[number] && shown.includes(heads[number] - 1) ? `a${heads[number] - 1}` : undefined;
  if (key === "ArrowUp") return { t: "w", w: "a" }[row] + number;
  if (key === "ArrowDown") return row === "t" ? undefined : { a: "w", w: "t" }[row] + number;
  const next = shown[shown.indexOf(number) + (key === "ArrowRight" ? 1 : -1)];
  return next === undefined ? undefined : row + next;
}
