// Who annotates: a name, asked for once.

import { at, view } from "./work.js";

function show() {
  const name = localStorage.getItem("annotator") || view.status?.annotator;
  at("who").textContent = name ? `☺ ${name}` : "☺";
  at("who").setAttribute("aria-label", name ? `Annotator: ${name}` : "Who annotates");
}

export function startPeople() {
  show();
  const dialog = at("ask-name");
  at("who").addEventListener("click", () => {
    at("name").value = localStorage.getItem("annotator") ?? "";
    dialog.showModal();
  });
  dialog.addEventListener("close", () => {
    if (dialog.returnValue === "yes") localStorage.setItem("annotator", at("name").value.trim());
    show();
  });
}
