// Accepting a tree: sent until the server has answered, once; and what to do when somebody else was first.

import { marked } from "./agreement.js";
import { ask } from "./api.js";
import { next } from "./ahead.js";
import { dropDraft } from "./drafts.js";
import { openItem, openPasted, refresh } from "./asking.js";
import { follow } from "./learning.js";
import { nextPasted, showPasted } from "./pasted.js";
import { show } from "./showing.js";
import { html } from "./svg.js";
import { choose } from "./tabs.js";
import { annotator, at, keep, newId, say, setAnnotating, state, view } from "./work.js";

const NONE_LEFT = "Nothing else waits in the queue.";

export function canAccept() {
  return Boolean(state.parse) && !state.accepted && !state.unmet.length && !view.waiting && state.edited === null;
}

/** What closes Accept, in words. */
export function whyClosed() {
  if (state.unmet.length) return `A correction is not met: ${state.unmet[0].reason}`;
  return state.edited === null ? null : "The tree was edited as text: accept the text, or drop the edit.";
}

export async function accept(text, over) {
  if (text === undefined && !canAccept()) {
    if (whyClosed()) say(whyClosed());
    return;
  }
  if (!state.parse || state.accepted) return;
  const tree = text ?? state.parse.trees[state.tree].plain;
  // The same tree has the same number however often it is sent, so that it is written once.
  if (state.ticket?.tree !== tree) state.ticket = { tree, id: newId() };
  state.accepted = state.ticket.id;
  at("accept").disabled = true;
  at("conflict").hidden = true;
  keep();
  await sendAccepted(tree, over);
}

/** Send an accepted tree; the same number is sent until the server has answered, and it counts once. */
export async function sendAccepted(tree, over = state.second ? "beside" : "ask") {
  // A server that was started anew numbers its queue anew.
  const queue = view.status?.instance === state.instance ? state.queue : null;
  const { reopened } = state;
  const work = { id: String(state.accepted), tree, annotator: annotator() };
  try {
    const answer = reopened
      ? await ask("PUT", "/api/trees", { ...work, number: reopened.number, old: reopened.text })
      : await ask("POST", "/api/accept", { ...work, proposed: state.proposed, fixes: state.fixes.count, queue, over });
    follow();
    dropDraft();
    const done = message(answer, reopened);
    say((await goOn()) === NONE_LEFT ? `${done} ${NONE_LEFT}` : done, true);
  } catch (error) {
    if (error.status !== 0) state.accepted = false;
    if (error.status === 409) showConflict(tree, error);
    else say(error.message);
    show();
  }
  keep();
}

function message(answer, reopened) {
  if (reopened) return "Accepted: it has taken the place of the old tree.";
  return `Accepted.${answer.agreement === null ? "" : ` The parser had ${Math.round(answer.agreement)} % of it right.`}${answer.absorbed ? " It learns it now." : ""}`;
}

/** After an acceptance: the next sentence of the queue or of the pasted text, or this one as it is parsed now. */
async function goOn() {
  if (state.reopened) return choose(state.reopened.from ?? "treebank");
  if (state.pasted) {
    if (!state.pasted.done.includes(state.pasted.at)) state.pasted.done.push(state.pasted.at);
    const number = nextPasted();
    if (number !== null) return openPasted(number);
    showPasted();
  }
  return state.queue === null ? refresh() : goToNext([state.queue]);
}

/** The next sentence of the queue. */
export async function goToNext(without) {
  const found = await next(without);
  if (found) return openItem(found.item, found.answer);
  setAnnotating(false);
  state.queue = null;
  say(NONE_LEFT, true);
  show();
  return NONE_LEFT;
}

/** One of two trees, with what the other has not marked. */
function rival(name, text, other) {
  return html("div", {}, html("h3", {}, name), html("pre", { tabindex: 0, "aria-label": name }, ...marked(text, [other])));
}

/** Somebody has given this sentence its tree, or changed it: the two are shown, and one chooses. */
function showConflict(tree, { message: text, value }) {
  const bar = at("conflict"), { reopened } = state;
  const act = (name, over) => html("button", { type: "button", onclick: () => {
    bar.hidden = true;
    dropDraft();
    if (!over) return goOn();
    if (reopened) state.reopened = over === "add" ? null : { ...reopened, text: value.tree };
    return accept(tree, over);
  } }, name);
  bar.replaceChildren(html("p", {}, html("b", {}, text), " What shall become of yours?"),
    html("details", {}, html("summary", {}, "Show both"), html("div", { class: "pair" }, rival("That one", value.tree, tree), rival("Yours", tree, value.tree))),
    html("div", { class: "buttons" }, act("Keep that one", null), act("Put mine in its place", "replace"), act("Keep both", "add"), reopened ? null : act("Keep mine beside it, to be compared", "beside")));
  bar.hidden = false;
  say(null);
  bar.querySelector("button").focus();
}
