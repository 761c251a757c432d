// Who annotates: a name, asked for once; and who shall do a sentence.

import { at, annotator } from "./work.js";

const dialog = at("ask-name");
let answered = () => {};

function show() {
  const name = annotator();
  at("who").textContent = name ? `☺ ${name}` : "☺ Who?";
  at("who").setAttribute("aria-label", name ? `☺ ${name}: annotator` : "☺ Who? Say who annotates");
}

/** Ask for a name; what is answered goes to `then`, nothing if nobody answers. */
export function askName(title, value, then) {
  at("name-title").textContent = title;
  at("name").value = value;
  answered = then;
  dialog.returnValue = "no";
  dialog.showModal();
}

function setName(name) {
  localStorage.setItem("annotator", name);
  at("name-bar").hidden = true;
  show();
}

/** When work on a queue begins and nobody has said who he is. */
export function askOnce() {
  at("name-bar").hidden = Boolean(annotator()) || localStorage.getItem("annotator") !== null;
}

export function startPeople() {
  show();
  at("who").addEventListener("click", () => askName("Who annotates?", annotator(), setName));
  dialog.addEventListener("close", () => dialog.returnValue === "yes" && answered(at("name").value.trim()));
  at("name-bar").addEventListener("submit", (event) => {
    event.preventDefault();
    setName(at("bar-name").value.trim());
  });
  at("no-name").addEventListener("click", () => setName(""));
}

/** The name given at the start of the server is known a little later. */
export { show as showName };
