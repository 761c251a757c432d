// Asking for parses: a new sentence, corrections one by one, the accepted tree.

import { ask } from "./api.js";
import { Fixes, describe } from "./fixes.js";
import { follow } from "./learning.js";
import { nextItem } from "./queue.js";
import { show, showFixes, showTreeNumber } from "./showing.js";
import { choose } from "./tabs.js";
import { at, keep, say, state, tell, view } from "./work.js";

export async function parseText(text) {
  const words = text.trim().split(/\s+/).filter(Boolean);
  if (!words.length) return;
  await open({ text: words.join(" ") }, null);
}

/** Begin with a new sentence. */
async function open(question, queue) {
  Object.assign(state, { question, queue, fixes: new Fixes(), tree: 0, collapsed: new Set(), chosen: null, proposed: null, zoom: 0, accepted: false });
  at("sentence").value = question.text ?? question.words.join(" ");
  view.focused = null;
  if (await refresh()) state.proposed = state.parse.trees[0].plain;
  keep();
}

/** Ask for the parse under the corrections of this moment; whether there is one. */
export async function refresh() {
  if (!state.question) return false;
  view.controller?.abort();
  const mine = (view.controller = new AbortController());
  const waiting = setTimeout(() => (at("cancel").hidden = false), 400);
  try {
    const asked = { ...state.question, fixes: state.fixes.request() };
    const answer = await ask("POST", "/api/parse", { ...asked, count: 1 }, mine.signal);
    say(null);
    Object.assign(state, { parse: answer, tree: 0 });
    show();
    more(asked, mine.signal);
    return true;
  } catch (error) {
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
  const asked = { id: String(state.accepted), tree, proposed: state.proposed, fixes: state.fixes.list.length, queue: state.queue };
  try {
    const answer = await ask("POST", "/api/accept", asked);
    const right = answer.agreement === null ? "" : ` The parser had ${Math.round(answer.agreement)} % of it right.`;
    await follow();
    const next = state.queue === null ? null : await nextItem();
    if (next) await openItem(next);
    else await refresh();
    show();
    say(`Accepted${answer.absorbed ? ` and learned in ${(answer.milliseconds / 1000).toFixed(2)} s` : ""}.${right}`, true);
  } catch (error) {
    if (error.status !== 0) state.accepted = false;
    at("accept").disabled = Boolean(state.accepted);
    say(error.message);
  }
  keep();
}

export function openItem(item) {
  choose("parse");
  return open({ words: item.words, ...(item.xpos && { xpos: item.xpos }), ...(item.upos && { upos: item.upos }) }, item.number);
}
