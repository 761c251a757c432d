// Labels without what is behind them; and single keys for labels: capital letters, which everyone may change.

import { state, view } from "./work.js";

const USUAL = {
  constituency: { N: "NP", P: "PP", V: "VP", S: "S", B: "SBAR", A: "ADJP", R: "ADVP", Q: "QP", W: "WHNP", C: "CONJP", M: "NML" },
  dependency: { S: "nsubj", O: "obj", B: "obl", M: "nmod", D: "det", A: "amod", V: "advmod", C: "conj", K: "case", X: "xcomp", P: "punct", F: "aux", R: "root" },
};

/** A label without its function tags, a relation without its subtype. */
export function plainLabel(label) {
  return label.slice(0, 1) + label.slice(1).split(/[-=:]/)[0];
}

/** Which label each capital letter gives. */
export function labelKeys() {
  const kind = view.status?.kind ?? state.parse?.kind ?? "constituency";
  const known = kind === "dependency" ? view.status?.relations : view.status?.phrase_labels;
  const usual = Object.fromEntries(Object.entries(USUAL[kind]).filter(([, label]) => known?.includes(label)));
  return { ...usual, ...own(kind) };
}

function own(kind) {
  return JSON.parse(localStorage.getItem(`keys-${kind}`) ?? "{}");
}

/** Give a letter another label, or none. */
export function setLabelKey(letter, label) {
  const kind = view.status.kind, keys = own(kind);
  keys[letter] = label;
  localStorage.setItem(`keys-${kind}`, JSON.stringify(keys));
}
