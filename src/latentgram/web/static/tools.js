// Switches over the tree: leave the rest as it is, list or drawing; and taking an acceptance back.

import { ask } from "./api.js";
import { comeBack } from "./asking.js";
import { follow } from "./learning.js";
import { draw, showFixes } from "./showing.js";
import { annotator, at, keep, newId, say, state, tell, view } from "./work.js";

/** Corrections change nothing but what they say, or the parser completes the rest. */
export function pin() {
  state.pinned = !state.pinned;
  at("pin").setAttribute("aria-pressed", String(state.pinned));
  tell(state.pinned ? "The rest stays as it is." : "The parser completes the rest.");
  keep();
}

export function toggleOutline() {
  view.outline = !view.outline;
  at("outline").setAttribute("aria-pressed", String(view.outline));
  localStorage.setItem("outline", view.outline ? "yes" : "no");
  if (state.parse) draw();
}

/** Take the last acceptance back. */
export async function undoAccept() {
  try {
    const { detail, accepted } = await ask("POST", "/api/undo", { id: newId(), annotator: annotator() });
    const { last } = view;
    if (last?.id === accepted && last.question !== state.question) await comeBack(last);
    else {
      // If it was this one, it may be accepted again.
      Object.assign(state, { accepted: false, ticket: null });
      if (state.parse) showFixes();
      keep();
    }
    say(detail, true);
    follow();
  } catch (error) {
    say(error.message);
  }
}

export function startTools() {
  view.outline = localStorage.getItem("outline") === "yes";
  at("outline").setAttribute("aria-pressed", String(view.outline));
  at("pin").setAttribute("aria-pressed", String(state.pinned));
  at("pin").addEventListener("click", pin);
  at("outline").addEventListener("click", toggleOutline);
}
