// What else the parser thinks possible, each as something that one key or click does.

import { crossing, quote } from "./fixes.js";
import { plainLabel } from "./labels.js";
import { strongest } from "./svg.js";

/** Alternatives that have a key of their own. */
const KEYS = 9;

/** Everything the parser thinks of one thing: groups of rows with a name, a probability and a correction. */
export function alternatives(parse, tree, thing) {
  if (thing.node && thing.node.first === thing.node.end) return [];
  const isTag = thing.node?.isTag || thing.tagOf !== undefined;
  if (isTag || (thing.word !== undefined && parse.kind === "constituency")) return [tagGroup(parse, thing.node?.first ?? thing.tagOf ?? thing.word)];
  if (thing.span) return [labelGroup(parse, thing.span[0], thing.span[1], null)];
  if (thing.node) return likeliest([attachments(parse, tree, thing.node), labelGroup(parse, thing.node.first, thing.node.end, thing.node.label), crossingGroup(parse, thing.node), noneGroup(thing.node)]);
  return likeliest([headGroup(parse, tree, thing.word ?? thing.arc), relationGroup(parse, tree, thing.word ?? thing.arc)]);
}

/** The most probable rows of all groups, as many as there are keys for; the first of each group stays. */
function likeliest(groups) {
  const first = groups.flatMap(({ rows }) => rows.slice(0, 1)), others = groups.flatMap(({ rows }) => rows.slice(1));
  const kept = new Set([...first, ...strongest(others, KEYS - first.length)]);
  return groups.map(({ title, rows }) => ({ title, rows: rows.filter((row) => kept.has(row)) })).filter(({ rows }) => rows.length);
}

function tagGroup(parse, word) {
  const rows = strongest(parse.tags.filter((part) => part.first === word), 6);
  return { title: "Tags of this word", rows: rows.map((part) => ({ name: part.label, probability: part.probability, fix: { kind: "tag", word, tag: part.label } })) };
}

function labelGroup(parse, first, end, label) {
  const others = strongest(parse.marginals.filter((part) => part.first === first && part.end === end && part.label !== label && part.label !== plainLabel(label ?? " ")), 5);
  return { title: "Other labels", rows: others.map((part) => ({ name: part.label, probability: part.probability, fix: { kind: "span", first, end, label: part.label, ...(label ? { instead: label } : {}) } })) };
}

function crossingGroup(parse, { first, end }) {
  const rows = strongest(parse.marginals.filter((part) => part.probability > 0.01 && crossing(part.first, part.end, first, end)), 3);
  return { title: "Crossing constituents", rows: rows.map((part) => ({ name: `${part.label} ${quote(parse.words, part.first, part.end)}`, probability: part.probability, fix: { kind: "span", first: part.first, end: part.end, label: part.label } })) };
}

/** A doubtful constituent may be none. */
function noneGroup({ first, end, label, probability }) {
  const rows = probability === null || probability > 0.99 || end === first ? [] : [{ name: `no ${label} here`, probability: 1 - probability, fix: { kind: "no-span", first, end, label } }];
  return { title: "Or", rows };
}

function headGroup(parse, tree, word) {
  const rows = strongest(parse.marginals.filter((part) => part.first === word && part.head !== null && part.head !== undefined && part.head !== tree.heads[word]), 8);
  return { title: "Other heads", rows: rows.map((part) => ({ name: headName(parse.words, part.head), probability: part.probability, fix: { kind: "head", word, head: part.head } })) };
}

/** Other relations to the head that the word has; they are known for the heads of the best tree. */
function relationGroup(parse, tree, word) {
  const isKnown = tree.heads[word] === parse.trees[0].heads[word];
  const rows = isKnown ? strongest(parse.relations.filter((part) => part.first === word && part.label !== tree.relations[word]), 5) : [];
  return { title: "Other relations", rows: rows.map((part) => ({ name: part.label, probability: part.probability, fix: { kind: "relation", word, relation: part.label } })) };
}

export function headName(words, head) {
  return head === 0 ? "the root" : `${words[head - 1]} (${head})`;
}

/** Other mothers of a node: those above its mother, and those beside it that it could go under. */
function attachments(parse, tree, node) {
  const family = numbered(tree);
  const rows = [...raised(parse, family, node.number), ...lowered(parse, family, node.number)];
  return { title: "Attach to", rows: strongest(rows, 4).filter(({ probability }, place) => !place || probability > 0.002) };
}

/** The correction that puts a node under another. */
export function attachmentTo(parse, tree, node, to) {
  const family = numbered(tree);
  const rows = [...raised(parse, family, node.number, 99), ...lowered(parse, family, node.number)];
  const known = rows.find(({ fix }) => fix.to[0] === to.first && fix.to[1] === to.end && fix.to[2] === to.label);
  return known?.fix ?? { kind: "attach", node: part(node), to: part(to), spans: [], forbidden: [], by_hand: true };
}

/** How likely it is that a node belongs under a neighbour, which no constituent of the tree shows. */
export function likeliestBeside(parse, tree, { number }) {
  return Math.max(0, ...lowered(parse, numbered(tree), number).map(({ probability }) => probability));
}

const part = ({ first, end, label }) => [first, end, label];
const numbered = ({ nodes }) => nodes.map((each, number) => ({ ...each, number }));

function posterior(parse, first, end, label) {
  return parse.marginals.find((each) => each.first === first && each.end === end && [label, plainLabel(label)].includes(each.label))?.probability ?? 0;
}

/**
 * Out of its mother, and perhaps out of hers: possible where the node stands at an edge. No more probable than what
 * must be there then, and than that the old mothers are not.
 */
function raised(parse, family, number, most = 2) {
  const node = family[number], rows = [], left = [], forbidden = [];
  let bound = 1;
  for (let mother = family[node.parent]; mother && mother.parent !== null; mother = family[mother.parent]) {
    const atEnd = node.end === mother.end && node.first > mother.first, atStart = node.first === mother.first && node.end < mother.end;
    if (!atEnd && !atStart) break;
    const rest = atEnd ? [mother.first, node.first, mother.label] : [node.end, mother.end, mother.label];
    const stays = family.filter((each) => each.parent === mother.number && each.first >= rest[0] && each.end <= rest[1]);
    if (stays.length > 1) {
      left.push(rest);
      bound = Math.min(bound, posterior(parse, ...rest));
    }
    forbidden.push(part(mother));
    bound = Math.min(bound, 1 - (mother.probability ?? 0));
    const to = family[mother.parent];
    if (to.parent !== null) rows.push({ name: `${to.label} ${quote(parse.words, to.first, to.end)}`, probability: bound, fix: { kind: "attach", node: part(node), to: part(to), spans: [part(node), part(to), ...left], forbidden: [...forbidden] } });
    if (rows.length === most) break;
  }
  return rows;
}

/** Under a neighbour, or under what stands at the neighbour's edge. */
function lowered(parse, family, number) {
  const node = family[number], rows = [];
  const beside = family.filter((each) => each.parent === node.parent && each.number !== number && each.word === null);
  for (const sister of beside.filter((each) => each.end === node.first || each.first === node.end)) {
    const before = sister.end === node.first;
    for (let at = sister; at && at.word === null; ) {
      const [first, end] = before ? [at.first, node.end] : [node.first, at.end];
      const probability = posterior(parse, first, end, at.label);
      const isMother = family[node.parent].first === first && family[node.parent].end === end && family[node.parent].label === at.label;
      if (!isMother) rows.push({ name: `${at.label} ${quote(parse.words, at.first, at.end)}`, probability, fix: { kind: "attach", node: part(node), to: part(at), spans: [part(node), [first, end, at.label]], forbidden: [] } });
      const below = family.filter((each) => each.parent === at.number);
      at = before ? below.at(-1) : below[0];
    }
  }
  return rows;
}
