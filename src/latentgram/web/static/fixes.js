// Corrections: a list that is never changed but replaced, so that undo and redo are a walk through its past.

export class Fixes {
  constructor(past = [[]], at = past.length - 1) {
    this.past = past;
    this.at = at;
  }

  get list() {
    return this.past[this.at];
  }

  get canUndo() {
    return this.at > 0;
  }

  get canRedo() {
    return this.at < this.past.length - 1;
  }

  undo() {
    return this.canUndo ? new Fixes(this.past, this.at - 1) : this;
  }

  redo() {
    return this.canRedo ? new Fixes(this.past, this.at + 1) : this;
  }

  /** Add a correction; older ones that contradict it go. */
  add(fix) {
    return this._with([...this.list.filter((old) => !clash(old, fix)), fix]);
  }

  remove(number) {
    return this._with(this.list.filter((_, other) => other !== number));
  }

  _with(list) {
    return new Fixes([...this.past.slice(0, this.at + 1), list], this.at + 1);
  }

  toJSON() {
    return { past: this.past, at: this.at };
  }

  /** What the server is asked. */
  request() {
    const asked = { spans: [], forbidden_spans: [], tags: [], forbidden_tags: [], heads: [], forbidden_heads: [] };
    for (const fix of this.list) {
      if (fix.kind === "span") {
        asked.spans.push([fix.first, fix.end, fix.label]);
        if (fix.from && fix.from !== fix.label) asked.forbidden_spans.push([fix.first, fix.end, fix.from]);
      } else if (fix.kind === "no-span") asked.forbidden_spans.push([fix.first, fix.end, fix.label]);
      else if (fix.kind === "tag") asked.tags.push([fix.word, fix.tag]);
      else if (fix.kind === "head") asked.heads.push([fix.word + 1, fix.head]);
      else if (fix.kind === "no-head") asked.forbidden_heads.push([fix.word + 1, fix.head]);
    }
    return asked;
  }

  /** The name of an arc asks nothing of the parser: it is written into the trees that come back. */
  relabel(trees) {
    for (const { word, relation } of this.list.filter((fix) => fix.kind === "relation")) {
      for (const tree of trees) {
        tree.relations[word] = relation;
        for (const text of ["plain", "annotated"]) tree[text] = inColumn(tree[text], word + 1, 7, relation);
      }
    }
  }

  /** Whether a node, a tag or an arc is there because it was asked for. */
  hasSpan(first, end, label) {
    return this.list.some(
      (fix) => fix.kind === "span" && fix.first === first && fix.end === end && (!fix.label || fix.label === label),
    );
  }

  hasTag(word) {
    return this.list.some((fix) => fix.kind === "tag" && fix.word === word);
  }

  hasHead(word) {
    return this.list.some((fix) => ["head", "relation"].includes(fix.kind) && fix.word === word);
  }
}

/** CoNLL-U with another value in a column of a word. */
function inColumn(text, word, column, value) {
  return text.split("\n").map((line) => {
    const fields = line.split("\t");
    if (fields[0] !== String(word)) return line;
    fields[column] = value;
    return fields.join("\t");
  }).join("\n");
}

function clash(old, fix) {
  const spans = ["span", "no-span"];
  if (spans.includes(old.kind) && spans.includes(fix.kind)) {
    const same = old.first === fix.first && old.end === fix.end;
    if (same) return old.kind === fix.kind ? old.label === fix.label || old.label === fix.from : !fix.label || !old.label || old.label === fix.label;
    if (old.kind === "span" && fix.kind === "span") {
      return (old.first < fix.first && fix.first < old.end && old.end < fix.end) || (fix.first < old.first && old.first < fix.end && fix.end < old.end);
    }
    return false;
  }
  if (old.kind === fix.kind && ["tag", "relation"].includes(fix.kind)) return old.word === fix.word;
  if (old.kind === "head" && fix.kind === "head") {
    return old.word === fix.word || (fix.head === 0 && old.head === 0) || (old.word === fix.head - 1 && fix.word === old.head - 1);
  }
  const pair = new Set([old.kind, fix.kind]);
  return pair.has("head") && pair.has("no-head") && old.word === fix.word && old.head === fix.head;
}

/** A correction in words. */
export function describe(fix, words) {
  const part = (first, end) => `“${end - first > 4 ? `${words[first]} … ${words[end - 1]}` : words.slice(first, end).join(" ")}”`;
  if (fix.kind === "span") {
    if (fix.from && fix.from !== fix.label) return `${part(fix.first, fix.end)} is ${fix.label}, not ${fix.from}`;
    return `${part(fix.first, fix.end)} is ${fix.label ?? "a unit"}`;
  }
  if (fix.kind === "no-span") return `${part(fix.first, fix.end)} is no ${fix.label ?? "unit"}`;
  if (fix.kind === "tag") return `“${words[fix.word]}” is ${fix.tag}`;
  if (fix.kind === "relation") return `“${words[fix.word]}” is ${fix.relation} of its head`;
  const head = fix.head === 0 ? "the root" : `“${words[fix.head - 1]}”`;
  if (fix.kind === "head") return fix.head === 0 ? `“${words[fix.word]}” is the root` : `“${words[fix.word]}” hangs on ${head}`;
  return fix.head === 0 ? `“${words[fix.word]}” is not the root` : `“${words[fix.word]}” does not hang on ${head}`;
}
