// Asking for parses: a new sentence, corrections one by one, the accepted tree.

import { ask } from "./api.js";
import { Fixes, describe } from "./fixes.js";
import { follow } from "./learning.js";
import { nextPasted, showPasted, written } from "./pasted.js";
import { nextItem } from "./queue.js";
import { show, showFixes, showTreeNumber } from "./showing.js";
import { choose } from "./tabs.js";
import { at, keep, say, state, tell, view } from "./work.js";

/** Have a text cut into sentences, and begin with the first. */
export async function parseText(text) {
  if (!text.trim()) return;
  try {
    const { sentences } = await ask("POST", "/api/sentences", { text, tokenised: at("tokenised").checked });
    state.pasted = sentences.length > 1 ? { sentences, at: 0, done: [] } : null;
    await open(sentences[0], null);
  } catch (error) {
    say(error.message);
  }
}

/** Go on with another sentence of the text that was pasted. */
export function openPasted(number) {
  state.pasted.at = number;
  return open(state.pasted.sentences[number], null);
}

/** Begin with a new sentence. */
async function open(question, queue) {
  // The tree of another sentence must not be taken for that of this one.
  at("result").inert = true;
  say(null);
  Object.assign(state, { question, parse: null, queue, instance: view.status?.instance, fixes: new Fixes(), tree: 0, collapsed: new Set(), chosen: null, proposed: null, zoom: 0, accepted: false });
  at("sentence").value = written(question);
  showPasted();
  view.focused = null;
  if (await refresh()) state.proposed = state.parse.trees[0].plain;
  keep();
}

/** Ask for the parse under the corrections of this moment; whether there is one. */
export async function refresh() {
  if (!state.question) return false;
  view.controller?.abort();
  const mine = (view.controller = new AbortController());
  const waiting = setTimeout(() => {
    at("cancel").hidden = false;
    if (view.status?.warming) say("The parser is being loaded, which takes some seconds after the start …", true);
  }, 400);
  try {
    const asked = { ...state.question, fixes: state.fixes.request() };
    const answer = await ask("POST", "/api/parse", { ...asked, count: 1 }, mine.signal);
    say(null);
    state.fixes.relabel(answer.trees);
    Object.assign(state, { parse: answer, tree: 0 });
    show();
    more(asked, mine.signal);
    return true;
  } catch (error) {
    if (view.controller === mine && !state.parse) at("result").hidden = true;
    if (error.name === "AbortError") return false;
    say(error.message);
    showFixes();
    return false;
  } finally {
    clearTimeout(waiting);
    if (view.controller === mine) at("cancel").hidden = true;
  }
}

/** The other trees come after the best one is on the screen. */
async function more(asked, signal) {
  try {
    const answer = await ask("POST", "/api/parse", { ...asked, count: 10 }, signal);
    if (answer.version !== state.parse.version) return;
    state.fixes.relabel(answer.trees);
    state.parse.trees = [state.parse.trees[0], ...answer.trees.slice(1)];
    showTreeNumber();
  } catch {
    // The best tree is there; the list of others is a luxury.
  }
}

export async function correct(fix) {
  if (!fix) return;
  state.fixes = state.fixes.add(fix);
  state.chosen = null;
  state.accepted = false;
  keep();
  if (await refresh()) tell(describe(fix, state.parse.words));
}

export async function walk(step) {
  const next = step < 0 ? state.fixes.undo() : state.fixes.redo();
  if (next === state.fixes) return;
  state.fixes = next;
  state.accepted = false;
  keep();
  await refresh();
}

export async function accept(text) {
  if (!state.parse || state.accepted) return;
  state.accepted = crypto.randomUUID?.() ?? String(Date.now()) + Math.random().toString(36).slice(2);
  at("accept").disabled = true;
  keep();
  await sendAccepted(text ?? state.parse.trees[state.tree].plain);
}

/** Send an accepted tree; the same number is sent until the server has answered, and it counts once. */
export async function sendAccepted(tree) {
  // A server that was started anew numbers its queue anew.
  const queue = view.status?.instance === state.instance ? state.queue : null;
  const asked = { id: String(state.accepted), tree, proposed: state.proposed, fixes: state.fixes.list.length, queue };
  try {
    const answer = await ask("POST", "/api/accept", asked);
    const right = answer.agreement === null ? "" : ` The parser had ${Math.round(answer.agreement)} % of it right.`;
    await follow();
    await goOn();
    show();
    say(`Accepted${answer.absorbed ? ` and learned in ${(answer.milliseconds / 1000).toFixed(2)} s` : ""}.${right}`, true);
  } catch (error) {
    if (error.status !== 0) state.accepted = false;
    at("accept").disabled = Boolean(state.accepted);
    say(error.message);
  }
  keep();
}

/** After an acceptance: the next sentence of the queue or of the pasted text, or this one as it is parsed now. */
async function goOn() {
  if (state.pasted) {
    if (!state.pasted.done.includes(state.pasted.at)) state.pasted.done.push(state.pasted.at);
    const next = nextPasted();
    if (next !== null) return openPasted(next);
    showPasted();
  }
  const item = state.queue === null ? null : await nextItem();
  return item ? openItem(item) : refresh();
}

export function openItem({ words, xpos, upos, space_after, number }) {
  choose("parse");
  state.pasted = null;
  return open({ words, xpos, upos, space_after }, number);
}
