// Several sentences at once: the list to step through when a whole text was pasted.

import { html } from "./svg.js";
import { at, state } from "./work.js";

let open = () => {};

export function startPasted(onOpen) {
  open = onOpen;
  at("pasted-before").addEventListener("click", () => open(state.pasted.at - 1));
  at("pasted-after").addEventListener("click", () => open(state.pasted.at + 1));
  // One stop of the Tab key however long the text is; arrows move inside the list.
  at("pasted-list").addEventListener("keydown", (event) => {
    const item = event.target.closest("li");
    const next = { ArrowDown: item?.nextElementSibling, ArrowUp: item?.previousElementSibling }[event.key];
    if (!next) return;
    event.preventDefault();
    next.firstElementChild.focus();
  });
}

/** A sentence as it was written. */
export function written({ words, space_after: blanks }) {
  return blanks ? words.map((word, m) => word + (blanks[m] ? " " : "")).join("").trim() : words.join(" ");
}

export function showPasted() {
  const { pasted } = state;
  at("pasted").hidden = !pasted;
  if (!pasted) return;
  const count = pasted.sentences.length;
  at("pasted-number").textContent = `Sentence ${pasted.at + 1} of ${count}`;
  at("pasted-before").disabled = pasted.at === 0;
  at("pasted-after").disabled = pasted.at === count - 1;
  at("pasted-list").replaceChildren(...pasted.sentences.map((sentence, number) => html("li", {},
    html("button", { type: "button", tabindex: number === pasted.at ? 0 : -1, "aria-current": number === pasted.at ? "true" : undefined, onclick: () => open(number) },
      html("span", { class: "n" }, pasted.done.includes(number) ? `✓ ${number + 1}` : String(number + 1)), html("span", { dir: "auto" }, written(sentence))))));
  at("pasted-list").querySelector("[aria-current]").scrollIntoView({ block: "nearest" });
}

/** The first sentence behind this one that has not been accepted, or null. */
export function nextPasted() {
  const { at: here, done, sentences } = state.pasted;
  const left = sentences.map((_, number) => number).filter((number) => !done.includes(number));
  return left.find((number) => number > here) ?? left[0] ?? null;
}
