// What the parts of the page share: what is worked on, what is shown, and how the page speaks.

import { keepDraft } from "./drafts.js";
import { Fixes } from "./fixes.js";

export const at = (id) => document.getElementById(id);

/** What is worked on; all but the parse is kept for this tab, so that neither reload nor restart loses it. */
export const state = {
  question: null, parse: null, proposed: null, fixes: new Fixes(), unmet: [], tree: 0, collapsed: new Set(), zoom: 0, chosen: null,
  queue: null, instance: null, pasted: null, accepted: false, ticket: null, letters: [], pinned: false, reopened: null, note: {}, second: false, changes: null, edited: null,
};

/** What is on the screen: the drawing, what is selected, the request under way or lost, what the server last told, and
 * what was accepted last. */
export const view = { picture: null, focused: null, selected: null, controller: null, lost: false, status: null, waiting: false, outline: false, last: null };

/** A name for something that is to be done once, however often it is sent. */
export function newId() {
  return crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(36).slice(2)}`;
}

/** What a click does, but not the second of a double click: another thing may be under the pointer by then. */
export function singly(work) {
  return (event) => event.detail < 2 && work();
}

/** This tab: what it has taken from the queue nobody else is given. */
export const client = sessionStorage.getItem("client") ?? newId();
sessionStorage.setItem("client", client);

export function annotator() {
  return localStorage.getItem("annotator") || view.status?.annotator || "";
}

/** While one annotates, what is typed and what is measured are folded away; each can be opened again. */
export function setAnnotating(now) {
  if (document.body.classList.toggle("annotating", now) === folded) return;
  folded = now;
  for (const part of document.querySelectorAll("#result .fold")) part.open = !now;
}
let folded = false;

export function say(text, good = false) {
  at("message").hidden = !text;
  at("message").textContent = text ?? "";
  at("message").classList.toggle("good", good);
}

at("message").addEventListener("click", () => say(null));

export function tell(text) {
  at("said").textContent = text;
}

export function keep() {
  const { question, fixes, proposed, queue, instance, pasted, accepted, ticket, letters, pinned, reopened, note, second, edited } = state;
  sessionStorage.setItem("work", JSON.stringify({ question, fixes, proposed, queue, instance, pasted, accepted, ticket, letters, pinned, reopened, note, second, edited }));
  keepDraft();
}
