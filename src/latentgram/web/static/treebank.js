// The treebank: its trees, found by words or patterns, opened again, changed, deleted, exported; and the history.

import { ask } from "./api.js";
import { openTree } from "./asking.js";
import { offer, pictures } from "./download.js";
import { html } from "./svg.js";
import { annotator, at, newId, say, singly } from "./work.js";

const PAGE = 50;
let first = 0, answer = null, turn = 0;

/** Texts of the trees that are ticked. */
const ticked = new Set();

export function startTreebank() {
  at("search").addEventListener("submit", (event) => {
    event.preventDefault();
    goTo(0);
  });
  at("tree-order").addEventListener("change", () => goTo(0));
  at("bank-before").addEventListener("click", () => goTo(first - PAGE));
  at("bank-after").addEventListener("click", () => goTo(first + PAGE));
  at("bank-place").addEventListener("change", () => goTo(Number(at("bank-place").value) - 1));
  at("untick").addEventListener("click", () => {
    ticked.clear();
    showTreebank();
  });
  for (const button of document.querySelectorAll("[data-export]")) {
    button.addEventListener("click", () => {
      at("export").open = false;
      save(button.dataset.export);
    });
  }
}

/** Show the trees from this place in the list on. */
function goTo(place) {
  first = Math.max(0, Math.min(Math.floor(place) || 0, (answer?.found ?? 1) - 1));
  showTreebank();
}

/** The trees that are searched for; the history below. */
export async function showTreebank() {
  const query = new URLSearchParams({ query: at("pattern").value, order: at("tree-order").value, offset: first, limit: PAGE });
  const mine = ++turn;
  try {
    const found = await ask("GET", `/api/trees?${query}`);
    if (mine !== turn) return;
    answer = found;
  } catch (error) {
    if (mine !== turn) return;
    at("bank-line").textContent = error.message;
    return at("bank").replaceChildren();
  }
  const byDoubt = query.get("order") === "doubtful";
  const looked = byDoubt && answer.scored < answer.total ? `, ${answer.scored.toLocaleString("en")} of them parsed so far` : "";
  const told = byDoubt ? " Beside each stands log p(tree | sentence) per word." : "";
  at("bank-line").textContent = answer.total ? `${answer.found.toLocaleString("en")} of ${answer.total.toLocaleString("en")} trees${looked}.${told}` : "No trees yet: accept some, or start with --treebank FILE.";
  at("bank").replaceChildren(...answer.items.map((item) => line(item, byDoubt ? item.doubt?.toFixed(3) ?? "…" : `${item.number + 1}`)));
  showPlace();
  showTicked();
  await showHistory();
}

/** Which part of the list is on the screen. */
function showPlace() {
  at("bank-pages").hidden = answer.found <= PAGE;
  at("bank-place").value = first + 1;
  at("bank-place").max = answer.found;
  at("bank-end").textContent = `– ${(first + answer.items.length).toLocaleString("en")} of ${answer.found.toLocaleString("en")}`;
  at("bank-before").disabled = first === 0;
  at("bank-after").disabled = first + PAGE >= answer.found;
}

function showTicked() {
  at("export-what").textContent = ticked.size ? `Export the ${ticked.size} ticked` : "Export these";
  at("untick").hidden = !ticked.size;
}

/** A box to tick a tree for export. */
function box({ text, number }) {
  const made = html("input", { type: "checkbox", "aria-label": `Tick tree ${number + 1} for export`, checked: ticked.has(text) });
  made.addEventListener("change", () => {
    if (made.checked) ticked.add(text);
    else ticked.delete(text);
    showTicked();
  });
  return made;
}

function line(item, beside) {
  const open = html("button", { "data-number": item.number, onclick: () => openTree(item.words, item.text.trimEnd() + (item.text.startsWith("(") ? "\n" : "\n\n"), { number: item.number, text: item.text }) },
    html("span", { class: "n" }, beside), html("span", { dir: "auto" }, ...highlighted(item), " ", html("span", { class: "marks" }, about(item))));
  return html("li", {}, box(item), open, html("button", { class: "small", "aria-label": `Delete tree ${item.number + 1}`, onclick: singly(() => act("POST", "/api/trees/delete", { id: newId(), number: item.number, old: item.text, annotator: annotator() })) }, "Delete"));
}

/** The words, with those marked that a search found. */
function highlighted({ words, hits }) {
  const inside = (word) => hits.some(([first, end]) => first <= word && word < end);
  return words.flatMap((word, place) => [inside(place) && words.length > 1 && hits.every(([first, end]) => end - first < words.length) ? html("mark", {}, word) : word, " "]);
}

function about({ annotator: who, time, agreement, note }) {
  const when = time ? new Date(1000 * time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "";
  return [note.flag && "⚑", note.comment && `✎ ${note.comment}`, time && `accepted${who ? ` by ${who}` : ""} ${when}`, agreement !== null && agreement !== undefined && `${Math.round(agreement)} % right before`].filter(Boolean).join(" · ");
}

async function act(method, path, body) {
  try {
    const { detail } = await ask(method, path, body);
    await showTreebank();
    say(detail, true);
  } catch (error) {
    say(error.message);
  }
}

async function showHistory() {
  const changes = await ask("GET", "/api/changes?limit=50");
  const rows = changes.map((change) => html("li", {},
    html("span", {}, html("b", {}, change.action), ` · ${change.annotator || "no name"} · ${new Date(1000 * change.time).toLocaleString()} · `, html("span", { class: "soft" }, brief(change.new || change.old))),
    html("button", { class: "small", onclick: singly(() => act("POST", "/api/undo", { id: newId(), change: change.id, annotator: annotator() })) }, "Undo")));
  const last = html("button", { class: "small", onclick: singly(() => act("POST", "/api/undo", { id: newId(), annotator: annotator() })) }, "Undo the last acceptance");
  at("history").replaceChildren(html("li", {}, last), ...rows);
}

function brief(text) {
  const words = text.startsWith("(") ? [...text.matchAll(/ ([^()\s]+)\)/g)].map((match) => match[1]) : [...text.matchAll(/^\d+\t([^\t]+)/gm)].map((match) => match[1]);
  return words.length > 12 ? `${words.slice(0, 12).join(" ")} …` : words.join(" ");
}

async function save(format) {
  const wanted = ticked.size ? { trees: [...ticked] } : { query: at("pattern").value, order: at("tree-order").value };
  try {
    const made = await ask("POST", "/api/export", { ...wanted, format: format === "png" ? "svg" : format });
    if (format === "png") await pictures(made.content, "treebank");
    else offer(new Blob([made.content], { type: "text/plain" }), `treebank.${made.ending}`);
    say(made.trees < made.found ? `Only the first ${made.trees.toLocaleString("en")} of ${made.found.toLocaleString("en")} trees were exported.` : `${made.trees.toLocaleString("en")} ${made.trees === 1 ? "tree" : "trees"} exported.`, made.trees === made.found);
  } catch (error) {
    say(error.message);
  }
}
