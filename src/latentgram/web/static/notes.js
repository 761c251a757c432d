// What is said of a sentence besides its tree: skip it, flag it, comment on it.

import { ask } from "./api.js";
import { goToNext } from "./accepting.js";
import { openPasted } from "./asking.js";
import { nextPasted } from "./pasted.js";
import { showNote } from "./showing.js";
import { at, keep, say, state, tell } from "./work.js";

let turn = 0;

async function note(fields) {
  const { question } = state, mine = ++turn;
  try {
    const told = await ask("POST", "/api/note", { words: question.words, ...fields });
    if (state.question !== question || mine !== turn) return true;
    state.note = told;
    showNote();
    keep();
    return true;
  } catch (error) {
    say(error.message);
    return false;
  }
}

/** Learn what was said of the sentence at hand before. */
export const readNote = () => note({});

export async function skip() {
  if (state.pasted) {
    const number = nextPasted();
    return number === null ? undefined : openPasted(number);
  }
  if (state.queue === null) return;
  const { question, queue } = state;
  if ((await note({ skipped: true })) && state.question === question) await goToNext([queue]);
}

export async function flag() {
  if (state.question && (await note({ flag: !state.note.flag }))) tell(state.note.flag ? "Flagged." : "No longer flagged.");
}

export function editComment() {
  at("comment-box").hidden = false;
  at("comment-text").focus();
}

const said = () => at("comment-text").value.trim();

export function startNotes() {
  at("skip").addEventListener("click", skip);
  at("flag").addEventListener("click", flag);
  at("comment").addEventListener("click", () => (at("comment-box").hidden ? editComment() : (at("comment-box").hidden = true)));
  at("comment-box").addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await note({ comment: said() })) {
      at("comment-box").hidden = true;
      at("drawing").focus();
    }
  });
  // Who goes on without Enter has said it all the same.
  at("comment-text").addEventListener("change", () => said() !== (state.note.comment ?? "") && note({ comment: said() }));
  at("comment-text").addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      at("comment-text").value = state.note.comment ?? "";
      at("comment-box").hidden = true;
      at("drawing").focus();
    }
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    at("comment-box").requestSubmit();
  });
}
