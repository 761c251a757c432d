// Accepting a tree: sent until the server has answered, once; and what to do when somebody else was first.

import { ask } from "./api.js";
import { next } from "./ahead.js";
import { dropDraft } from "./drafts.js";
import { openItem, openPasted, refresh } from "./asking.js";
import { quote } from "./fixes.js";
import { follow } from "./learning.js";
import { nextPasted, showPasted, written } from "./pasted.js";
import { rescueFocus } from "./pointing.js";
import { rival } from "./rivals.js";
import { reasonOf, show } from "./showing.js";
import { html } from "./svg.js";
import { choose } from "./tabs.js";
import { annotator, at, keep, newId, say, setAnnotating, state, view } from "./work.js";

const NONE_LEFT = "There are no more sentences in the queue but skipped ones and those of others.";

/** Letters that are under way. */
const sending = new Set();

export function canAccept() {
  return Boolean(state.parse) && !state.accepted && !state.unmet.length && !view.waiting && state.edited === null;
}

/** What closes Accept, in words. */
export function whyClosed() {
  if (state.unmet.length) return `A correction cannot be satisfied: ${reasonOf(state.unmet[0])}`;
  if (state.edited !== null) return "The tree was edited as text: accept the text, or discard the edit.";
  if (state.accepted) return isSent(state.accepted) ? "This tree is already in the treebank." : "This tree is being written to the treebank.";
  return view.waiting ? "This tree does not have your last correction yet." : null;
}

const isSent = (id) => state.letters.every((letter) => letter.id !== id);

export async function accept(text, over = state.second ? "beside" : "ask") {
  if (text === undefined && !canAccept()) {
    if (whyClosed()) say(whyClosed());
    return;
  }
  if (!state.parse || state.accepted) return;
  const tree = text ?? state.parse.trees[state.tree].plain;
  // The same tree has the same number however often it is sent, so that it is written once.
  if (state.ticket?.tree !== tree) state.ticket = { tree, id: newId() };
  const { question, reopened, proposed, fixes, queue, instance, pasted, ticket: { id } } = state;
  const letter = { id, tree, over, question, reopened, proposed, fixes: fixes.count, queue, instance, pasted: pasted?.at, annotator: annotator() };
  state.accepted = id;
  state.letters.push(letter);
  if (!reopened) view.last = { id, question, queue, proposed, fixes, note: state.note, second: state.second };
  at("accept").disabled = true;
  at("conflict").hidden = true;
  keep();
  await send(letter);
}

/** What was accepted and not answered, for want of a server or because the page was left, is sent again. */
export async function sendLetters() {
  for (const letter of [...state.letters]) await send(letter);
}

/** Send an accepted tree: the same letter until the server has answered, and it counts once. */
async function send(letter) {
  if (sending.has(letter.id)) return;
  sending.add(letter.id);
  // Who has gone on to another sentence meanwhile is told, and stays there.
  const isHere = () => state.accepted === letter.id;
  try {
    const answer = await deliver(letter);
    settle(letter);
    dropDraft(letter);
    tick(letter);
    follow();
    if (isHere()) await leave(message(answer, letter));
    else say(`Accepted: ${named(letter)}.`, true);
  } catch (error) {
    if (error.status === 0) {
      if (isHere()) say(error.message);
    } else {
      settle(letter);
      refused(letter, error, isHere());
    }
  } finally {
    sending.delete(letter.id);
  }
  keep();
}

function deliver({ id, tree, annotator: name, reopened, proposed, fixes, queue, instance, over }) {
  const work = { id, tree, annotator: name };
  if (reopened) return ask("PUT", "/api/trees", { ...work, number: reopened.number, old: reopened.text });
  // A server that was started anew numbers its queue anew.
  return ask("POST", "/api/accept", { ...work, proposed, fixes, queue: view.status?.instance === instance ? queue : null, over });
}

const named = ({ question: { words } }) => quote(words, 0, words.length);

/** A letter was answered. */
function settle(letter) {
  state.letters = state.letters.filter(({ id }) => id !== letter.id);
}

/** A sentence of the pasted text, if that is there still, is done. */
function tick({ pasted: place, question }) {
  const { pasted } = state, sentence = pasted?.sentences[place];
  if (!sentence || written(sentence) !== written(question) || pasted.done.includes(place)) return;
  pasted.done.push(place);
  showPasted();
}

function refused({ id, tree, ...letter }, error, isHere) {
  if (!isHere) return say(`${named(letter)} was not accepted: ${error.message}`);
  state.accepted = false;
  if (error.status === 409) showConflict(tree, error);
  else say(error.message);
  show();
}

/** Go on from an accepted sentence. */
async function leave(done) {
  try {
    say((await goOn()) === NONE_LEFT ? `${done} ${NONE_LEFT}` : done, true);
  } catch (error) {
    say(`${done} ${error.message}`);
    show();
  }
  rescueFocus();
}

function message(answer, { reopened }) {
  if (reopened) return "Accepted: it replaces the old tree.";
  return `Accepted.${answer.agreement === null ? "" : ` The parser had ${Math.round(answer.agreement)} % of it right.`}${answer.absorbed ? " It is learning from it now." : ""}`;
}

/** After an acceptance: the next sentence of the queue or of the pasted text, or this one as it is parsed now. */
async function goOn() {
  if (state.reopened) return choose(state.reopened.from ?? "treebank");
  if (state.pasted) {
    const number = nextPasted();
    if (number !== null) return openPasted(number);
  }
  return state.queue === null ? refresh() : goToNext([state.queue]);
}

/** The next sentence of the queue. */
export async function goToNext(without) {
  const { question } = state, found = await next(without);
  if (state.question !== question) return undefined; // He has gone elsewhere.
  if (found) return openItem(found.item, found.answer);
  setAnnotating(false);
  state.queue = null;
  say(NONE_LEFT, true);
  show();
  return NONE_LEFT;
}

const beside = (name, text, other) => html("div", {}, html("h3", {}, name), ...rival(text, [other], name));

/** Somebody has given this sentence its tree, or changed it: the two are shown, and one chooses. */
function showConflict(tree, { message: text, value }) {
  const bar = at("conflict"), { reopened } = state;
  const act = (name, over) => html("button", { type: "button", onclick: () => {
    bar.hidden = true;
    dropDraft(state);
    if (!over) return goOn();
    if (reopened) state.reopened = over === "add" ? null : { ...reopened, text: value.tree };
    return accept(tree, over);
  } }, name);
  bar.replaceChildren(html("p", {}, html("b", {}, text), " What shall become of yours?"),
    html("details", {}, html("summary", {}, "Show both"), html("div", { class: "pair" }, beside("That one", value.tree, tree), beside("Yours", tree, value.tree))),
    html("div", { class: "buttons" }, act("Keep that one", null), act("Replace it by mine", "replace"), act("Keep both", "add"), reopened ? null : act("Store mine for comparison", "beside")));
  bar.hidden = false;
  say(null);
  bar.querySelector("button").focus();
}
