// The next sentence of the queue, taken and parsed while this one is worked on, so that nobody waits for it.

import { ask } from "./api.js";
import { queueOrder, whoHas } from "./queue.js";
import { annotator, client, state, view } from "./work.js";

const RENEWED = 300_000;
let ready = null, turn = 0, held = null;

/** Keep the sentence at hand for this tab, and go on doing so while it is worked on; who has it, if it is another. */
export async function hold() {
  const { queue, instance } = state, now = Date.now();
  if (queue === null || instance !== view.status?.instance || (held?.queue === queue && now < held.until)) return null;
  held = { queue, until: now + RENEWED };
  try {
    const answer = await ask("POST", "/api/queue/take", { client, annotator: annotator(), number: queue });
    return answer.held && whoHas(answer.held, "this sentence");
  } catch {
    return null; // Who is second is told when he accepts.
  }
}

/** Take the next sentence and parse it. */
export async function prepare() {
  ready = null;
  if (state.queue === null) return;
  const mine = ++turn;
  try {
    const item = await take([state.queue]);
    if (!item || mine !== turn) return;
    const { words, xpos, upos, space_after, source } = item;
    const answer = await ask("POST", "/api/parse", { ...(source ? { source } : { words, xpos, upos, space_after }), count: 1 });
    if (mine === turn) ready = { item, answer };
  } catch {
    // It is asked for again when it is wanted.
  }
}

/** The next sentence with its parse, if it is there, or the sentence alone, or null. */
export async function next(without = []) {
  const found = ready;
  ready = null;
  turn += 1;
  if (found && !without.includes(found.item.number)) return found;
  const item = await take(without);
  return item ? { item, answer: null } : null;
}

async function take(without) {
  return (await ask("POST", "/api/queue/take", { client, annotator: annotator(), order: queueOrder(), without })).item;
}
