// The list of keys, with the letters for labels, which can be changed here.

import { labelKeys, setLabelKey } from "./labels.js";
import { html } from "./svg.js";
import { at, view } from "./work.js";

const KEYS = [
  ["t", "to the tree"], ["← → ↑ ↓", "siblings, parent, first child; words, and what is under them"], ["n, b", "next most doubtful part; previous one"],
  ["1 – 9", "choose the alternative with this number"], ["Enter, e", "to the panel; to its first field"], ["k, Delete", "keep this constituent or head; not this one"],
  ["Shift ← →", "select words, then a letter or Enter"], ["Space", "collapse, expand"], ["u, r", "undo, redo"], ["m", "move: go to the new parent or head, press Enter (0: root)"], ["i", "what a trace refers to, in the same way"], ["p", "leave the rest as it is"],
  ["[ ]", "previous tree, next best tree"], ["o", "list or drawing"], ["s", "skip"], ["f", "flag"], ["c", "comment"], ["a", "accept; also Ctrl Enter"], ["U", "undo the last acceptance"], ["Escape", "back to the tree"], ["?", "this list"],
];

export function showHelp() {
  const dialog = at("help");
  const rows = KEYS.map(([key, text]) => html("div", {}, html("dt", {}, html("kbd", {}, key)), html("dd", {}, text)));
  const letters = [..."ABCDEFGHIJKLMNOPQRSTVWXYZ"].map((letter) => {
    const field = html("input", { type: "text", value: labelKeys()[letter] ?? "", "aria-label": `label of the key ${letter}`, list: view.status?.kind === "dependency" ? "relations" : "labels" });
    field.addEventListener("change", () => setLabelKey(letter, field.value.trim()));
    return html("label", {}, html("kbd", {}, letter), field);
  });
  dialog.replaceChildren(html("div", { class: "row spread" }, html("h2", {}, "Keys"), html("button", { class: "icon", onclick: () => dialog.close(), "aria-label": "Close" }, "×")),
    html("dl", {}, ...rows), html("h2", {}, "Letters for labels, with Shift"), html("div", { class: "letters" }, ...letters));
  dialog.showModal();
}
