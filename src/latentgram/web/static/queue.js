// The queue of sentences that wait for a tree.

import { ask } from "./api.js";
import { written } from "./pasted.js";
import { askName } from "./people.js";
import { html } from "./svg.js";
import { annotator, at, client } from "./work.js";

const list = document.getElementById("queue"), line = document.getElementById("queue-line"), more = document.getElementById("queue-more");
let order = localStorage.getItem("order") ?? "uncertain", shown = 50, turn = 0, open = () => {}, report = () => {};

export function startQueue(onOpen, onProblem) {
  open = onOpen;
  report = onProblem;
  for (const choice of document.querySelectorAll("input[name=order]")) {
    choice.checked = choice.value === order;
    choice.addEventListener("change", () => {
      order = choice.value;
      localStorage.setItem("order", order);
      showQueue();
    });
  }
  more.addEventListener("click", () => {
    shown += 50;
    showQueue();
  });
  at("queue-give").addEventListener("click", giveOut);
  document.getElementById("add").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = document.getElementById("more");
    add(field.value).then((done) => done && (field.value = ""));
  });
  document.getElementById("file").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (file) await add(await file.text());
    event.target.value = "";
  });
}

/** Send sentences in portions that the server takes; what it was given is kept to be sent again after a restart. */
async function add(text) {
  const tokenised = document.getElementById("queue-tokenised").checked;
  const lines = text.split("\n").filter((each) => each.trim());
  try {
    await send(lines, tokenised);
    const kept = keptLines();
    const key = tokenised ? "tokenised" : "raw";
    kept[key] = [...kept[key], ...lines].slice(-5000);
    localStorage.setItem("queue-lines", JSON.stringify(kept));
    await showQueue();
    return true;
  } catch (error) {
    report(error);
    return false;
  }
}

/** After a restart of the server: the sentences that were added on this page. */
export async function sendAgain() {
  const { raw, tokenised } = keptLines();
  await send(raw, false);
  await send(tokenised, true);
}

function keptLines() {
  return { raw: [], tokenised: [], ...JSON.parse(localStorage.getItem("queue-lines") ?? "{}") };
}

async function send(lines, tokenised) {
  for (let at = 0; at < lines.length; at += 500) await ask("POST", "/api/queue", { text: lines.slice(at, at + 500).join("\n"), tokenised });
}

export function queueOrder() {
  return order;
}

/** The first part of the queue, in portions that the server gives. */
async function fetchQueue() {
  const part = (offset) => ask("GET", `/api/queue?${new URLSearchParams({ order, offset, limit: Math.min(shown - offset, 200), client, annotator: annotator() })}`);
  const answer = await part(0);
  while (answer.items.length < Math.min(shown, answer.waiting)) {
    const { items } = await part(answer.items.length);
    if (!items.length) break;
    answer.items.push(...items);
  }
  return answer;
}

export async function showQueue() {
  const mine = ++turn;
  const answer = await fetchQueue();
  if (mine !== turn) return;
  line.textContent = answer.waiting
    ? `${answer.waiting} waiting${answer.scored < answer.waiting ? `, ${answer.scored} of them parsed so far` : ""}. Uncertainty is the entropy over trees per word, in nats.`
    : "The queue is empty. Add sentences below, or start with --sentences FILE.";
  showProgress(answer.progress);
  list.replaceChildren(...answer.items.map((item) => html("li", {}, html("button", { onclick: () => open(item) },
    html("span", { class: "n" }, item.entropy === null ? "…" : (item.entropy / item.words.length).toFixed(3)), html("span", { dir: "auto" }, written(item), " ", html("span", { class: "marks" }, marks(item)))),
    html("button", { class: "small", "aria-label": `Give to …: sentence ${item.number + 1}`, onclick: () => assign(item) }, "Give to …"))));
  more.hidden = answer.items.length >= answer.waiting;
  at("queue-give").hidden = !answer.items.length;
}

/** Let somebody do a sentence, or with no name anybody. */
function assign({ words, note }) {
  askName("Who should annotate this sentence?", note.assigned, (assigned) => ask("POST", "/api/note", { words, assigned }).then(showQueue, report));
}

/** Give out as many sentences as are shown, to several people in turn. */
function giveOut() {
  askName("Who should annotate the next sentences? Names, separated by commas", "", (names) => {
    const people = names.split(",").map((name) => name.trim()).filter(Boolean);
    if (people.length) ask("POST", "/api/queue/assign", { people, count: shown, order }).then(showQueue, report);
  });
}

/** Who has a sentence: another person, or oneself in another tab. */
export function whoHas({ holder }, what) {
  return holder && holder === annotator() ? `you have ${what} in another tab` : `${holder || "somebody"} has ${what}`;
}

/** What is noted of a sentence. */
export function marks({ note, second }) {
  return [note.flag && "⚑", note.skipped && "skipped", note.taken && whoHas(note, "it"), note.assigned && `for ${note.assigned}`, second && "second annotation", note.comment && `✎ ${note.comment}`].filter(Boolean).join(" · ");
}

/** "312 of 1,000, 41 per hour, about 17 h left". */
export function progressText({ done, total, per_hour: speed, hours_left: left }) {
  const parts = [`${done.toLocaleString("en")} of ${total.toLocaleString("en")}`];
  if (speed) parts.push(`${Math.round(speed)} per hour`, left < 1 ? `about ${Math.max(1, Math.round(60 * left))} min left` : `about ${left.toFixed(left < 10 ? 1 : 0)} h left`);
  return parts.join(", ");
}

function showProgress(progress) {
  at("queue-progress").hidden = !progress.total;
  at("queue-progress").textContent = progressText(progress);
}
