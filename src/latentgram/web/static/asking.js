// Asking for parses: a new sentence, and corrections one by one.

import { ask, sentence } from "./api.js";
import { hold, prepare } from "./ahead.js";
import { compare } from "./changes.js";
import { draftOf } from "./drafts.js";
import { select } from "./editor.js";
import { Fixes, describe } from "./fixes.js";
import { rescueFocus } from "./pointing.js";
import { readNote } from "./notes.js";
import { showPasted, written } from "./pasted.js";
import { askOnce } from "./people.js";
import { reasonOf, show, showBeginning, showFixes, showTreeNumber } from "./showing.js";
import { choose } from "./tabs.js";
import { at, keep, say, setAnnotating, state, tell, view } from "./work.js";

const LONG = 80;
let turn = 0;

/** Have a text cut into sentences, and begin with the first. */
export async function parseText(text) {
  if (!text.trim()) return;
  const mine = ++turn;
  try {
    const { sentences } = await ask("POST", "/api/sentences", { text, tokenised: at("tokenised").checked });
    if (mine !== turn) return; // Something else is wanted now.
    state.pasted = sentences.length > 1 ? { sentences, at: 0, done: [] } : null;
    await open(sentences[0]);
  } catch (error) {
    say(error.message);
  }
}

/** Go on with another sentence of the text that was pasted. */
export function openPasted(number) {
  state.pasted.at = number;
  return open(state.pasted.sentences[number]);
}

/** Begin with a sentence of the queue; what was parsed ahead is there at once. */
export function openItem({ words, xpos, upos, space_after, number, source, note, second }, answer = null) {
  choose("parse");
  askOnce();
  state.pasted = null;
  return open(source ? { source, words } : { words, xpos, upos, space_after }, { queue: number, note: note ?? {}, second: Boolean(second) }, answer);
}

/** Begin with a tree that is there already: it stays as it is but for what is said now. */
export function openTree(words, base, reopened) {
  choose("parse");
  state.pasted = null;
  return open({ words }, { fixes: Fixes.of(base), reopened });
}

/** Back to a sentence whose acceptance was taken back, with its corrections. */
export function comeBack({ id: _, question, ...more }) {
  choose("parse");
  return open(question, more);
}

/** Begin with a new sentence. */
async function open(question, more = {}, answer = null) {
  turn += 1;
  // The tree of another sentence must not be taken for that of this one.
  at("result").inert = true;
  say(null);
  Object.assign(state, {
    question, parse: null, queue: null, instance: view.status?.instance, fixes: new Fixes(), unmet: [], changes: null, tree: 0, collapsed: new Set(), chosen: null,
    proposed: null, zoom: 0, accepted: false, ticket: null, reopened: null, note: {}, second: false, edited: null, ...more,
  });
  const draft = draftOf(question, state.reopened);
  Object.assign(state, draft);
  keep();
  setAnnotating(state.queue !== null || state.reopened !== null);
  at("sentence").value = written(question);
  at("conflict").hidden = true;
  at("comment-box").hidden = true;
  if (!more.note) readNote();
  showPasted();
  Object.assign(view, { focused: null, selected: null });
  select(null);
  const there = await refresh(null, draft ? null : answer);
  if (state.question !== question) return;
  if (there) showBeginning();
  if (there && draft) say("Your earlier corrections have been restored.", true);
  prepare();
  const holder = await hold();
  if (holder && state.question === question) say(`${sentence(holder)} Who accepts it second is asked which tree stays.`);
}

/** What is asked of the server. */
export function asked(question, fixes) {
  const { words, source, ...rest } = question;
  return { ...(source ? { source } : { words, ...rest }), ...fixes.request() };
}

/** Ask for the parse under the corrections of this moment; whether there is one. */
export async function refresh(fix = null, ready = null) {
  if (!state.question) return false;
  view.controller?.abort();
  const mine = (view.controller = new AbortController());
  view.lost = false;
  wait(true);
  const slow = setTimeout(() => {
    at("cancel").hidden = false;
    if (view.status?.warming) say("The parser is being loaded, which takes a few seconds …", true);
    else if (state.question.words.length > LONG) say(`${state.question.words.length} words take some seconds …`, true);
    else if (!state.parse) say("Parsing …", true);
  }, 400);
  try {
    const question = asked(state.question, state.fixes);
    const answer = ready ?? (await ask("POST", "/api/parse", { ...question, count: 1 }, mine.signal));
    if (view.controller === mine) say(null);
    const before = state.parse && { tree: state.parse.trees[state.tree], words: state.parse.words };
    Object.assign(state, { parse: answer, tree: 0, unmet: answer.unmet });
    if (!state.fixes.canUndo) state.proposed ??= answer.trees[0].plain;
    keep();
    const isUnmet = answer.unmet.some(({ number }) => number === state.fixes.list.length - 1);
    if (!fix || !isUnmet) state.changes = fix ? changesBy(fix, before, answer) : null;
    wait(false);
    show();
    if (answer.unmet.length && at("editor").hidden) say(`A correction cannot be satisfied: ${reasonOf(answer.unmet[0])}`);
    rescueFocus();
    if (state.fixes.base === null && answer.words.length <= LONG) more(question, mine.signal);
    return true;
  } catch (error) {
    if (view.controller === mine && !state.parse) at("result").hidden = true;
    if (error.name === "AbortError") return false;
    view.lost = error.status === 0;
    say(error.message);
    showFixes();
    return false;
  } finally {
    clearTimeout(slow);
    if (view.controller === mine) at("cancel").hidden = true;
  }
}

/** What a correction changed besides itself, and what it takes to leave the rest as it was. */
function changesBy(fix, before, { trees, words }) {
  const found = compare(before, trees[0], words, fix);
  return found && { ...found, base: before.tree.plain, fix: state.fixes.list.at(-1) };
}

/** While an answer is awaited, the tree on the screen is not what was asked for, and cannot be accepted. */
function wait(now) {
  view.waiting = now;
  at("drawing").setAttribute("aria-busy", String(now));
  if (now) at("accept").disabled = true;
}

/** The other trees come after the best one is on the screen. */
async function more(question, signal) {
  try {
    const answer = await ask("POST", "/api/parse", { ...question, count: 10 }, signal);
    if (answer.version !== state.parse.version || answer.trees[0].plain !== state.parse.trees[0].plain) return;
    state.parse.trees = [state.parse.trees[0], ...answer.trees.slice(1)];
    showTreeNumber();
  } catch {
    // The best tree is there; the list of others is a luxury.
  }
}

export async function correct(fix) {
  if (!fix || !state.parse) return;
  const said = { ...fix, said: describe(fix, state.parse.words) };
  const replaced = state.fixes.against(said);
  state.fixes = state.pinned && state.fixes.base === null ? state.fixes.addTo(state.parse.trees[state.tree].plain, said) : state.fixes.add(said);
  const isDone = await corrected(fix, said.said);
  if (isDone && replaced.length && !state.unmet.length) say(`This replaces: ${replaced.map((old) => old.said).join("; ")}.`, true);
}

/** The correction alone that changed the rest: everything else as it was before it. */
export async function leaveTheRest() {
  if (!state.changes) return;
  state.fixes = state.fixes.addTo(state.changes.base, state.changes.fix);
  await corrected(null, "The rest is as it was.");
}

/** Make a correction by hand that the parser cannot meet. */
export async function byHand(number) {
  state.fixes = state.fixes.byHand(number);
  await corrected(null, "Made by hand.");
}

export async function takeBack(number) {
  state.fixes = state.fixes.remove(number);
  await corrected(null, "Taken back.");
}

export async function freeTheRest() {
  state.fixes = state.fixes.free();
  await corrected(null, "The parser completes the rest.");
}

export async function walk(step) {
  const next = step < 0 ? state.fixes.undo() : state.fixes.redo();
  if (next === state.fixes) return;
  state.fixes = next;
  await corrected(null, step < 0 ? "Undone." : "Done again.");
}

async function corrected(fix, text) {
  hold();
  state.chosen = null;
  state.accepted = false;
  keep();
  const isDone = await refresh(fix);
  if (isDone) tell(state.unmet.length ? `Cannot be satisfied: ${reasonOf(state.unmet[0])}` : text);
  return isDone;
}
