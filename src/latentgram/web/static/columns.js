// The columns of CoNLL-U under the words: which are shown, and what they say.

import { at, state } from "./work.js";

export const COLUMNS = { upos: "UPOS", xpos: "XPOS", lemma: "lemma", feats: "features" };
const USUAL = ["upos", "xpos", "lemma"];

function chosen() {
  return JSON.parse(localStorage.getItem("columns") ?? "null") ?? USUAL;
}

/** Whether a column says anything, and something that none before it has said. */
function tells(rows, name) {
  const values = rows[name] ?? [];
  return values.some((value) => value !== "_") && !(name === "xpos" && values.every((value, word) => value === rows.upos?.[word]));
}

/** For each word the lines below it: the column and its text. */
export function linesOf({ rows = {} }, size) {
  const names = chosen().filter((name) => tells(rows, name));
  return Array.from({ length: size }, (_, word) => names.flatMap((name) => {
    const value = rows[name][word], lines = name === "feats" ? value.split("|") : [value];
    return lines.map((text) => ({ name, text: text === "_" ? "·" : text }));
  }));
}

/** The column that the parser reads: to set it is to ask for another parse. */
export function parsedColumn(rows) {
  return rows.xpos?.some((value) => value !== "_") ? "xpos" : "upos";
}

/** A menu of the columns; `draw` is called when the choice changes. */
export function startColumns(draw) {
  for (const box of document.querySelectorAll("#columns input")) {
    box.checked = chosen().includes(box.value);
    box.addEventListener("change", () => {
      localStorage.setItem("columns", JSON.stringify([...document.querySelectorAll("#columns input:checked")].map(({ value }) => value)));
      if (state.parse) draw();
    });
  }
}

/** Only dependencies have columns. */
export function showColumnsMenu() {
  at("columns").hidden = state.parse?.kind !== "dependency";
}
