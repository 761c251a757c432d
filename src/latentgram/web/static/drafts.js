// Corrections of sentences that were left before they were accepted: who comes back finds them.

import { Fixes } from "./fixes.js";
import { state } from "./work.js";

const MOST = 200;

function drafts() {
  return JSON.parse(localStorage.getItem("drafts") ?? "[]");
}

/** A sentence of the queue, or a tree of the treebank as it is there. */
function nameOf({ words, source }, reopened) {
  return JSON.stringify([source ?? words, reopened?.text ?? null]);
}

/** Keep what was said of the sentence at hand; an acceptance under way is not settled yet. */
export function keepDraft() {
  const { question, reopened, fixes, proposed, edited, accepted } = state;
  if (!question || accepted) return;
  const name = nameOf(question, reopened), others = drafts().filter((each) => each.name !== name);
  const said = fixes.canUndo || edited !== null ? [{ name, fixes, proposed, edited }] : [];
  if (said.length || others.length) store([...others, ...said].slice(-MOST));
}

/** Where the browser has no more room the oldest go. */
function store(kept) {
  try {
    localStorage.setItem("drafts", JSON.stringify(kept));
  } catch (error) {
    if (error.name !== "QuotaExceededError") throw error;
    if (kept.length) store(kept.slice(1));
  }
}

/** A sentence is in the treebank. */
export function dropDraft({ question, reopened }) {
  const name = nameOf(question, reopened);
  store(drafts().filter((each) => each.name !== name));
}

/** What was said of a sentence before, or null. */
export function draftOf(question, reopened) {
  const found = drafts().find((each) => each.name === nameOf(question, reopened));
  return found ? { fixes: new Fixes(found.fixes.past, found.fixes.at), proposed: found.proposed, edited: found.edited } : null;
}
