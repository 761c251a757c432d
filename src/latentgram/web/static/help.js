// The list of keys, with the letters for labels, which can be changed here.

import { labelKeys, setLabelKey } from "./labels.js";
import { html } from "./svg.js";
import { at, view } from "./work.js";

const KEYS = [
  ["t", "to the tree"], ["← → ↑ ↓", "sisters, mother, first child; along words"], ["n, b", "the most doubtful part, then the next; back to the one before"],
  ["1 – 9", "do what stands at this number in the panel"], ["Enter, e", "into the panel; into its first field"], ["Delete", "not this constituent, or not this head"],
  ["Shift ← →", "choose words, then a letter or Enter"], ["Space", "fold, unfold"], ["u, r", "undo, do again"], ["p", "leave the rest as it is"],
  ["[ ]", "the tree before, the next best"], ["o", "as a list, as a drawing"], ["s", "skip"], ["f", "flag"], ["c", "comment"], ["a, Ctrl Enter", "accept"], ["U", "take the last acceptance back"], ["Escape", "back to the tree"], ["?", "this list"],
];

export function showHelp() {
  const dialog = at("help");
  const rows = KEYS.map(([key, text]) => html("tr", {}, html("td", {}, html("kbd", {}, key)), html("td", {}, text)));
  const letters = [..."ABCDEFGHIJKLMNOPQRSTVWXYZ"].map((letter) => {
    const field = html("input", { type: "text", value: labelKeys()[letter] ?? "", "aria-label": `label of the key ${letter}`, list: view.status?.kind === "dependency" ? "relations" : "labels" });
    field.addEventListener("change", () => setLabelKey(letter, field.value.trim()));
    return html("label", {}, html("kbd", {}, letter), field);
  });
  dialog.replaceChildren(html("div", { class: "row spread" }, html("h2", {}, "Keys"), html("button", { class: "icon", onclick: () => dialog.close(), "aria-label": "Close" }, "×")),
    html("table", {}, html("tbody", {}, ...rows)), html("h2", {}, "Letters for labels, with Shift"), html("div", { class: "letters" }, ...letters));
  dialog.showModal();
}
