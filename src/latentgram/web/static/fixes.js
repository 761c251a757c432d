// Corrections: a list that is never changed but replaced, so that undo and redo are a walk through its past.

/**
 * A step of the past: the corrections in their order, and perhaps a tree (`base`) that stays as it is but for them;
 * `told` are corrections that this tree shows already.
 */
const START = { base: null, told: [], list: [] };

export class Fixes {
  constructor(past = [START], at = past.length - 1) {
    this.past = past;
    this.at = at;
  }

  /** Corrections of a tree that is there already. */
  static of(base) {
    return new Fixes([{ base, told: [], list: [] }]);
  }

  get now() {
    return this.past[this.at];
  }

  get list() {
    return this.now.list;
  }

  get base() {
    return this.now.base;
  }

  get count() {
    return this.now.told.length + this.list.length;
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

  /** Older corrections that a new one contradicts. */
  against(fix) {
    return this.base === null ? this.list.filter((old) => clash(old, fix)) : [];
  }

  /** Add a correction; older ones that contradict it go. On a tree that stays, all are made one after the other. */
  add(fix) {
    const gone = this.against(fix);
    return this._with({ ...this.now, list: [...this.list.filter((old) => !gone.includes(old)), fix] });
  }

  /** Make a correction, and those after it, on a tree that else stays as it is and shows those before. */
  addTo(base, fix) {
    const place = this.list.includes(fix) ? this.list.indexOf(fix) : this.list.length;
    return this._with({ base, told: [...this.now.told, ...this.list.slice(0, place)], list: [fix, ...this.list.slice(place + 1)] });
  }

  /** Make a correction by hand. */
  byHand(number) {
    return this._with({ ...this.now, list: this.list.map((fix, other) => (other === number ? { ...fix, by_hand: true } : fix)) });
  }

  /** Let the parser complete the rest again. */
  free() {
    return this._with({ base: null, told: [], list: [...this.now.told, ...this.list] });
  }

  remove(number) {
    return this._with({ ...this.now, list: this.list.filter((_, other) => other !== number) });
  }

  _with(step) {
    return new Fixes([...this.past.slice(0, this.at + 1), step], this.at + 1);
  }

  toJSON() {
    return { past: this.past, at: this.at };
  }

  /** What the server is asked. */
  request() {
    return { corrections: this.list.map(({ said: _, ...fix }) => fix), base: this.base };
  }

  /** Whether a node, a tag or an arc is there because it was asked for. */
  hasSpan(first, end, label) {
    return this._all().some((fix) => (fix.kind === "span" && fix.first === first && fix.end === end && (!fix.label || fix.label === label))
      || (fix.kind === "attach" && same(fix.node, [first, end, label])) || (fix.kind === "function" && fix.first === first && fix.end === end));
  }

  hasTag(word) {
    return this._all().some((fix) => fix.kind === "tag" && fix.word === word);
  }

  /** Whether what a column says of a word was asked for; a tag may be in either of two. */
  hasColumn(word, column) {
    return this._all().some((fix) => fix.word === word && (fix.column === column || (fix.kind === "tag" && column.endsWith("pos"))));
  }

  hasHead(word) {
    return this._all().some((fix) => ["head", "relation"].includes(fix.kind) && fix.word === word);
  }

  _all() {
    return [...this.now.told, ...this.list];
  }
}

function same(one, other) {
  return one.every((part, i) => part === other[i]);
}

function clash(old, fix) {
  const spans = ["span", "no-span"];
  if (spans.includes(old.kind) && spans.includes(fix.kind)) {
    const equal = old.first === fix.first && old.end === fix.end;
    if (equal) return old.kind === fix.kind ? old.label === fix.label || old.label === fix.instead : !fix.label || !old.label || old.label === fix.label;
    return old.kind === "span" && fix.kind === "span" && crossing(old.first, old.end, fix.first, fix.end);
  }
  // A node with another label has no function tags yet.
  if (old.kind === "function" && fix.kind === "span") return old.first === fix.first && old.end === fix.end && fix.instead !== undefined && fix.instead !== fix.label;
  if (old.kind === "attach" && fix.kind === "attach") return same(old.node, fix.node);
  if (old.kind === fix.kind && ["tag", "relation"].includes(fix.kind)) return old.word === fix.word;
  if (old.kind === fix.kind && fix.kind === "column") return old.word === fix.word && old.column === fix.column;
  if (old.kind === "head" && fix.kind === "head") {
    return old.word === fix.word || (fix.head === 0 && old.head === 0) || (old.word === fix.head - 1 && fix.word === old.head - 1);
  }
  const pair = new Set([old.kind, fix.kind]);
  return pair.has("head") && pair.has("no-head") && old.word === fix.word && old.head === fix.head;
}

export function crossing(first, end, start, stop) {
  return (first < start && start < end && end < stop) || (start < first && first < stop && stop < end);
}

/** Some words of a sentence, in quotation marks. */
export function quote(words, first, end) {
  return `“${end - first > 4 ? `${words[first]} … ${words[end - 1]}` : words.slice(first, end).join(" ")}”`;
}

/** A correction in words. */
export function describe(fix, words) {
  const part = (first, end) => quote(words, first, end), word = `“${words[fix.word]}”`;
  const head = fix.head === 0 ? "the root" : `“${words[fix.head - 1]}”`;
  const texts = {
    span: () => `${fix.first === fix.end ? "the empty element" : part(fix.first, fix.end)} is ${fix.label ?? "a constituent"}${fix.instead && fix.instead !== fix.label ? `, not ${fix.instead}` : ""}`,
    "no-span": () => `${part(fix.first, fix.end)} is ${fix.label ? `not ${fix.label}` : "no constituent"}`,
    attach: () => `${fix.node[2]} ${part(fix.node[0], fix.node[1])} under ${fix.to[2]} ${part(fix.to[0], fix.to[1])}`,
    tag: () => `${word} is ${fix.tag}`,
    head: () => (fix.head === 0 ? `${word} is the root` : `the head of ${word} is ${head}`),
    "no-head": () => (fix.head === 0 ? `${word} is not the root` : `the head of ${word} is not ${head}`),
    relation: () => `${word} is ${fix.relation} of its head`,
    column: () => `${fix.column} of ${word}: ${fix.value || "none"}`,
    function: () => `${fix.first === fix.end ? "the empty element" : part(fix.first, fix.end)}: ${fix.label}${fix.function ? ` with ${fix.function}` : " without function tags"}`,
    trace: () => (fix.instead ? `trace ${fix.text}, not ${fix.instead}` : `trace ${fix.label ? `${fix.label} ` : ""}${fix.text} under ${fix.mother[2]}`),
    coindex: () => `trace ${fix.text} refers to ${fix.to[2]} ${part(fix.to[0], fix.to[1])}`,
    "no-trace": () => `no trace ${fix.text}`,
    split: () => `${word} is ${fix.parts.join(" + ")}`,
    merge: () => `${word} and “${words[fix.word + 1]}” are one word`,
  };
  return texts[fix.kind]();
}
