// What a correction changed besides what was asked for: shown, so that nothing changes silently.

import { headName } from "./alternatives.js";
import { quote } from "./fixes.js";
import { plainLabel } from "./labels.js";

const key = ({ first, end, label }) => `${first} ${end} ${label}`;

const plain = ({ first, end, label }) => key({ first, end, label: plainLabel(label) });
const same = (node, [first, end] = []) => node.first === first && node.end === end;

/** What is in one tree of a sentence and not in the other; null if nothing is. */
export function compare(before, after, words, fix) {
  if (!before || before.words.join(" ") !== words.join(" ")) return null;
  const found = after.heads.length ? comparedArcs(before.tree, after, words, fix) : comparedPhrases(before.tree, after, words, fix);
  return found.texts.length ? found : null;
}

function comparedArcs(before, after, words, fix) {
  const moved = after.heads.map((head, word) => ({ word, head, old: before.heads[word] })).filter(({ word, head, old }) => head !== old && word !== fix?.word);
  const columns = { relation: [before.relations, after.relations], ...Object.fromEntries(["upos", "xpos", "lemma", "feats"].map((name) => [name, [before.rows[name] ?? [], after.rows[name] ?? []]])) };
  const asked = (name, word) => word === fix?.word && (fix.kind === name || fix.column === name || (fix.kind === "tag" && name.endsWith("pos")));
  const renamed = Object.entries(columns).flatMap(([name, [old, now]]) => words.map((_, word) => word)
    .filter((word) => old[word] !== now[word] && !asked(name, word)).map((word) => `${words[word]}: ${name} ${old[word]} → ${now[word]}`));
  const texts = [...moved.map(({ word, head, old }) => `${words[word]}: head ${headName(words, old)} → ${headName(words, head)}`), ...renamed];
  const arcs = after.heads.map((head, word) => ({ word, old: before.heads[word], head })).filter(({ head, old }) => head !== old);
  return { texts, arcs, spans: [], added: new Set() };
}

function comparedPhrases(before, after, words, fix) {
  const [old, now] = [before, after].map((tree) => new Map(tree.nodes.map((node) => [key(node), node])));
  const gone = [...old.values()].filter((node) => !now.has(key(node))), come = [...now.values()].filter((node) => !old.has(key(node)));
  const isEmptied = ["trace", "no-trace", "coindex"].includes(fix?.kind), renamed = (node) => isEmptied && (node.first === node.end || same(node, fix.to));
  const asked = (node) => fix && (renamed(node) || (fix.first === node.first && fix.end === node.end) || (fix.word === node.first && node.word !== null)
    || [...(fix.spans ?? []), ...(fix.forbidden ?? [])].some(([first, end, label]) => first === node.first && end === node.end && label === node.label));
  const name = (node) => `${node.label} ${quote(words, node.first, node.end)}`;
  const texts = [...gone.filter((node) => !asked(node)).map((node) => `− ${name(node)}`), ...come.filter((node) => !asked(node)).map((node) => `+ ${name(node)}`)];
  return { texts, arcs: [], spans: gone.filter((node) => node.word === null && node.end > node.first && !come.some((other) => plain(other) === plain(node))), added: new Set(come.map(key)) };
}
