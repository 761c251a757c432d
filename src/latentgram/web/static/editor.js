// The dialog that corrects a node, a word, a tag or an arc; and what the pointer is told when it hovers.

import { colour, html, percent, strongest } from "./svg.js";

const dialog = document.getElementById("editor");

/** Everything the parser thinks of one thing, as rows of name and probability. */
export function alternatives(parse, thing) {
  if (thing.node?.isTag || thing.tagOf !== undefined) {
    const word = thing.node ? thing.node.first : thing.tagOf;
    return { title: "Tags of this word", rows: strongest(parse.tags.filter((part) => part.first === word), 6).map((part) => ({ ...part, name: part.label })) };
  }
  if (thing.node) {
    const { first, end } = thing.node;
    const same = parse.marginals.filter((part) => part.first === first && part.end === end);
    const crossing = parse.marginals.filter((part) => (part.first < first && first < part.end && part.end < end) || (first < part.first && part.first < end && end < part.end));
    return {
      title: "Labels of these words", rows: strongest(same, 6).map((part) => ({ ...part, name: part.label })),
      other: strongest(crossing, 3).map((part) => ({ ...part, name: `${part.label} “${brief(parse.words, part.first, part.end)}”` })),
    };
  }
  const word = thing.word ?? thing.arc;
  const arcs = parse.marginals.filter((part) => part.first === word && part.head !== null && part.head !== undefined);
  if (arcs.length) return { title: "Heads of this word", rows: strongest(arcs, 8).map((part) => ({ ...part, name: headName(parse.words, part.head) })) };
  const over = parse.tags.filter((part) => part.first === word);
  return { title: "Tags of this word", rows: strongest(over, 5).map((part) => ({ ...part, name: part.label })) };
}

export function brief(words, first, end) {
  return end - first > 4 ? `${words[first]} … ${words[end - 1]}` : words.slice(first, end).join(" ");
}

export function headName(words, head) {
  return head === 0 ? "the root" : `${words[head - 1]} (${head})`;
}

function meter(probability) {
  return html("span", { class: "meter", style: `width:${Math.max(2, 80 * probability)}px;--c:${colour(probability)}` });
}

/** What hovering shows. */
export function tipOf(parse, tree, thing) {
  const found = alternatives(parse, thing);
  const table = (rows) => html("table", {}, ...rows.map((row) => html("tr", {}, html("td", {}, row.name), html("td", {}, meter(row.probability)), html("td", {}, percent(row.probability)))));
  const parts = [html("b", {}, ...heading(parse, tree, thing))];
  if (found.rows.length) parts.push(html("p", { class: "caption" }, found.title), table(found.rows));
  if (found.other?.length) parts.push(html("p", { class: "caption" }, "Strongest that cross it"), table(found.other));
  return parts;
}

function heading(parse, tree, thing) {
  if (thing.node) {
    const { label, first, end, probability } = thing.node;
    return [`${label} `, html("span", { class: "soft" }, `“${brief(parse.words, first, end)}” `), percent(probability)];
  }
  const word = thing.word ?? thing.arc ?? thing.tagOf;
  if (tree.heads.length && thing.tagOf === undefined) {
    const relation = tree.relations[word] === "_" ? "" : ` (${tree.relations[word]})`;
    return [`${parse.words[word]} → ${headName(parse.words, tree.heads[word])}${relation} `, percent(tree.confidence[word])];
  }
  return [parse.words[word]];
}

/** Open the dialog for a thing; `done` gets the correction, or nothing. */
export function edit(parse, tree, thing, done) {
  const close = (fix) => {
    dialog.close();
    dialog.replaceChildren();
    done(fix);
  };
  dialog.oncancel = (event) => {
    event.preventDefault();
    close();
  };
  dialog.onclick = (event) => event.target === dialog && close();
  const parts = thing.span ? spanParts(parse, thing.span, close) : thing.node && !thing.node.isTag ? nodeParts(parse, thing.node, close)
    : thing.node || thing.tagOf !== undefined ? tagParts(parse, thing.node ? thing.node.first : thing.tagOf, close) : headParts(parse, tree, thing.word ?? thing.arc, close);
  dialog.replaceChildren(...parts, html("div", { class: "buttons" }, html("button", { onclick: () => close() }, "Cancel")));
  dialog.showModal();
  dialog.querySelector(".choices button, input, button")?.focus();
}

function title(text, quote) {
  return [html("h2", {}, text), html("p", { class: "quote" }, quote)];
}

function choices(rows, pick, chosen) {
  return html("div", { class: "choices" }, ...rows.map((row) => html("button", { onclick: () => pick(row), "aria-pressed": String(row.name === chosen) },
    html("span", {}, row.name), meter(row.probability), html("span", { class: "n" }, percent(row.probability)))));
}

function ownLabel(list, caption, pick) {
  const field = html("input", { type: "text", list, placeholder: caption, "aria-label": caption, maxlength: 60, autocomplete: "off" });
  const set = (event) => {
    event.preventDefault();
    const value = field.value.trim();
    if (value && !/[\s()]/.test(value)) pick(value);
  };
  // While suggestions are open, Enter would only close them.
  field.addEventListener("keydown", (event) => event.key === "Enter" && set(event));
  return html("form", { onsubmit: set }, field, html("button", {}, "Set"));
}

function nodeParts(parse, node, close) {
  const set = (label) => close({ kind: "span", first: node.first, end: node.end, label, from: label === node.label ? undefined : node.label });
  const rows = alternatives(parse, { node }).rows.filter((row) => row.label !== node.label);
  return [
    ...title(`${node.label}, ${percent(node.probability)}`, `“${brief(parse.words, node.first, node.end)}”`),
    html("div", { class: "buttons" },
      html("button", { class: "primary", "data-act": "keep", onclick: () => set(node.label) }, "Keep it so"),
      html("button", { "data-act": "forbid", onclick: () => close({ kind: "no-span", first: node.first, end: node.end, label: node.label }) }, `Not ${node.label}`),
      html("button", { "data-act": "forbid-all", onclick: () => close({ kind: "no-span", first: node.first, end: node.end, label: null }) }, "No constituent")),
    rows.length ? html("p", { class: "caption soft" }, "Or another label:") : null,
    rows.length ? choices(rows, (row) => set(row.label)) : null,
    ownLabel("labels", "another label", set),
  ].filter(Boolean);
}

function spanParts(parse, [first, end], close) {
  const set = (label) => close({ kind: "span", first, end, label });
  const rows = strongest(parse.marginals.filter((part) => part.first === first && part.end === end), 6).map((part) => ({ ...part, name: part.label }));
  return [
    ...title("A constituent", `“${brief(parse.words, first, end)}”`),
    rows.length ? choices(rows, (row) => set(row.label)) : null,
    ownLabel("labels", "its label", set),
    html("div", { class: "buttons" }, html("button", { "data-act": "unit", onclick: () => set(null) }, "With any label")),
  ].filter(Boolean);
}

function tagParts(parse, word, close) {
  const set = (tag) => close({ kind: "tag", word, tag });
  const rows = alternatives(parse, { tagOf: word }).rows;
  return [
    ...title("Tag", `“${parse.words[word]}”`),
    rows.length ? choices(rows, (row) => set(row.label)) : null,
    ownLabel("tags", "another tag", set),
  ].filter(Boolean);
}

function headParts(parse, tree, word, close) {
  const set = (head) => close({ kind: "head", word, head });
  const rows = alternatives(parse, { word }).rows;
  const there = new Set(rows.map((row) => row.head));
  const rest = ["the root", ...parse.words].map((_, head) => head).filter((head) => head !== word + 1 && !there.has(head));
  const other = html("select", { "aria-label": "another head" }, html("option", { value: "" }, "another word …"), ...rest.map((head) => html("option", { value: head }, headName(parse.words, head))));
  other.addEventListener("change", () => other.value !== "" && set(Number(other.value)));
  return [
    ...title("Head of", `“${parse.words[word]}”, now ${headName(parse.words, tree.heads[word])}, ${percent(tree.confidence[word])}`),
    choices(rows, (row) => set(row.head), headName(parse.words, tree.heads[word])),
    html("form", {}, other),
    ownLabel("relations", `its relation, now ${tree.relations[word]}`, (relation) => close({ kind: "relation", word, relation })),
    html("div", { class: "buttons" }, html("button", { "data-act": "forbid", onclick: () => close({ kind: "no-head", word, head: tree.heads[word] }) }, `Not ${headName(parse.words, tree.heads[word])}`)),
  ];
}
