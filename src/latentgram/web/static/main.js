// The page: asks for parses, draws them, collects corrections, accepts trees, keeps its state over restarts.

import { ask, onConnection } from "./api.js";
import { drawArcs } from "./arcs.js";
import { agreementChart, arcChart, spanChart } from "./chart.js";
import { download } from "./download.js";
import { edit, tipOf } from "./editor.js";
import { Fixes, describe } from "./fixes.js";
import { showModel, startModel } from "./model.js";
import { nextItem, sendAgain, showQueue, startQueue } from "./queue.js";
import { html, percent } from "./svg.js";
import { drawTree } from "./tree.js";

const at = (id) => document.getElementById(id);
const READABLE = 0.72;
const tip = at("tip"), drawing = at("drawing"), field = at("sentence");

/** What is shown; all but the drawing is kept for this tab, so that neither reload nor restart loses it. */
const state = { question: null, parse: null, proposed: null, fixes: new Fixes(), tree: 0, collapsed: new Set(), zoom: 0, chosen: null, queue: null, accepted: false };
let status = null, picture = null, focused = null, controller = null, drag = null;

// ---------------------------------------------------------------- asking

async function parseText(text) {
  const words = text.trim().split(/\s+/).filter(Boolean);
  if (!words.length) return;
  await open({ text: words.join(" ") }, null);
}

/** Begin with a new sentence. */
async function open(question, queue) {
  Object.assign(state, { question, queue, fixes: new Fixes(), tree: 0, collapsed: new Set(), chosen: null, proposed: null, zoom: 0, accepted: false });
  field.value = question.text ?? question.words.join(" ");
  focused = null;
  if (await refresh()) state.proposed = state.parse.trees[0].plain;
  keep();
}

/** Ask for the parse under the corrections of this moment; whether there is one. */
async function refresh() {
  if (!state.question) return false;
  controller?.abort();
  const mine = (controller = new AbortController());
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
    if (controller === mine) at("cancel").hidden = true;
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

async function correct(fix) {
  if (!fix) return;
  state.fixes = state.fixes.add(fix);
  state.chosen = null;
  state.accepted = false;
  keep();
  if (await refresh()) tell(describe(fix, state.parse.words));
}

async function walk(step) {
  const next = step < 0 ? state.fixes.undo() : state.fixes.redo();
  if (next === state.fixes) return;
  state.fixes = next;
  state.accepted = false;
  keep();
  await refresh();
}

async function accept(text) {
  if (!state.parse || state.accepted) return;
  state.accepted = crypto.randomUUID?.() ?? String(Date.now()) + Math.random().toString(36).slice(2);
  at("accept").disabled = true;
  keep();
  await sendAccepted(text ?? state.parse.trees[state.tree].plain);
}

/** Send an accepted tree; the same number is sent until the server has answered, and it counts once. */
async function sendAccepted(tree) {
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

function openItem(item) {
  choose("parse");
  return open({ words: item.words, ...(item.xpos && { xpos: item.xpos }), ...(item.upos && { upos: item.upos }) }, item.number);
}

// ---------------------------------------------------------------- showing

function show() {
  const { parse } = state;
  at("result").hidden = !parse;
  if (!parse) return;
  const tree = parse.trees[state.tree];
  at("confidence").textContent = percent(tree.expected ?? mean(tree.confidence));
  at("probability").textContent = percent(tree.probability);
  at("logprob").textContent = parse.logprob === null ? "–" : parse.logprob.toFixed(1);
  at("entropy").textContent = parse.entropy === null ? "–" : `${parse.entropy.toFixed(2)} nats`;
  at("time").textContent = `${parse.milliseconds.toFixed(0)} ms`;
  if (parse.fallback) say("The grammar has no parse of this sentence; this tree is put together from parts.");
  at("by-hand").value = tree.plain;
  at("text-format").textContent = parse.kind === "dependency" ? "CoNLL-U" : "Penn brackets";
  at("accept").disabled = Boolean(state.accepted);
  at("hint").innerHTML = parse.kind === "dependency"
    ? "Click an arc or a word to set its head, a tag to change it. Keys: <kbd>←</kbd> <kbd>→</kbd> words, <kbd>↑</kbd> arc, <kbd>Enter</kbd> correct."
    : "Click a node to correct it, double-click to fold it; drag over words to make a constituent. Keys: arrows, <kbd>Enter</kbd> correct, <kbd>Shift</kbd>+<kbd>→</kbd> over words, <kbd>Del</kbd> forbid, <kbd>Space</kbd> fold.";
  if (parse.guessed_tags) at("hint").append(" The tags were guessed.");
  draw();
  showFixes();
  showTreeNumber();
  at("chart").replaceChildren(parse.kind === "dependency" ? arcChart(parse, hoverChart) : spanChart(parse, hoverChart));
}

function mean(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

function draw() {
  const { parse, fixes, collapsed, chosen } = state;
  const options = { fixes, collapsed, chosen, act: listen };
  picture = (parse.kind === "dependency" ? drawArcs : drawTree)(parse, parse.trees[state.tree], options);
  const old = drawing.scrollLeft;
  drawing.replaceChildren(picture.picture);
  resize();
  drawing.scrollLeft = old;
  if (focused === null || !picture.reachable.has(focused)) focused = picture.reachable.keys().next().value;
  picture.reachable.get(focused).element.setAttribute("tabindex", 0);
}

function resize() {
  // As large as fits, but never too small to read: a long sentence is scrolled, or fitted by the button.
  const scale = state.zoom || Math.min(1.25, Math.max(READABLE, fitting()));
  picture.scale = scale;
  picture.picture.setAttribute("width", picture.width * scale);
  picture.picture.setAttribute("height", picture.height * scale);
}

function fitting() {
  return (drawing.clientWidth - 4) / picture.width;
}

/** By a factor; without one all of it is shown. */
function zoom(by) {
  state.zoom = Math.min(3, Math.max(0.1, by ? picture.scale * by : fitting()));
  resize();
}

function showTreeNumber() {
  const count = state.parse.trees.length;
  at("tree-number").textContent = `${state.tree + 1} of ${count}`;
  at("tree-before").disabled = state.tree === 0;
  at("tree-after").disabled = state.tree >= count - 1;
}

function flip(step) {
  const next = state.tree + step;
  if (!state.parse || next < 0 || next >= state.parse.trees.length) return;
  state.tree = next;
  show();
}

function showFixes() {
  at("undo").disabled = !state.fixes.canUndo;
  at("redo").disabled = !state.fixes.canRedo;
  at("no-fixes").hidden = state.fixes.list.length > 0;
  at("fixes").replaceChildren(...state.fixes.list.map((fix, number) => {
    const words = describe(fix, state.parse?.words ?? []);
    return html("li", {}, html("span", {}, words), html("button", { "aria-label": `take back: ${words}`, title: "Take back", onclick: async () => {
      state.fixes = state.fixes.remove(number);
      keep();
      await refresh();
    } }, "×"));
  }));
}

function say(text, good = false) {
  at("message").hidden = !text;
  at("message").textContent = text ?? "";
  at("message").classList.toggle("good", good);
}

function tell(text) {
  at("said").textContent = text;
}

// ---------------------------------------------------------------- pointing and keys

function listen(element, thing) {
  element.addEventListener("pointerenter", (event) => showTip(element, tipOf(state.parse, state.parse.trees[state.tree], thing), event));
  element.addEventListener("pointerleave", hideTip);
  element.addEventListener("focus", () => showTip(element, tipOf(state.parse, state.parse.trees[state.tree], thing)));
  element.addEventListener("blur", hideTip);
  element.addEventListener("click", (event) => {
    if (drag?.moved) return;
    focused = keyOf(thing) ?? focused;
    if (event.detail === 2 && thing.node && !thing.node.isTag) fold(thing.node);
    else if (event.detail < 2) later(() => correctThing(thing));
  });
  if (thing.word !== undefined && state.parse.kind === "constituency") {
    element.addEventListener("pointerdown", () => (drag = { from: thing.word, to: thing.word, moved: false }));
    element.addEventListener("pointerenter", () => {
      if (!drag) return;
      drag.moved ||= thing.word !== drag.from;
      drag.to = thing.word;
      mark([Math.min(drag.from, drag.to), Math.max(drag.from, drag.to) + 1]);
    });
  }
}

/** A click waits a moment, in case it becomes a double click. */
let pending = null;
function later(action) {
  clearTimeout(pending);
  pending = setTimeout(action, 180);
}

document.addEventListener("pointerup", () => {
  const span = drag?.moved ? state.chosen : null;
  if (span) correctThing({ span });
  setTimeout(() => (drag = null));
});

function mark(span) {
  state.chosen = span;
  for (const [key, { element, word }] of picture.reachable) {
    if (String(key).startsWith("w")) element.classList.toggle("chosen", Boolean(span) && word >= span[0] && word < span[1]);
  }
}

function correctThing(thing) {
  hideTip();
  if (thing.word !== undefined && state.parse.kind === "constituency" && !thing.span) thing = state.chosen ? { span: state.chosen } : { span: [thing.word, thing.word + 1] };
  edit(state.parse, state.parse.trees[state.tree], thing, async (fix) => {
    mark(null);
    await correct(fix);
    picture.reachable.get(focused)?.element.focus();
  });
}

function fold(node) {
  clearTimeout(pending);
  const key = `${node.first}-${node.end}-${node.label}`;
  if (!state.collapsed.delete(key)) state.collapsed.add(key);
  focused = node.number;
  draw();
  picture.reachable.get(focused)?.element.focus();
}

drawing.addEventListener("focus", () => picture?.reachable.get(focused)?.element.focus());
drawing.addEventListener("keydown", (event) => {
  if (!picture || event.ctrlKey || event.metaKey) return;
  const here = picture.reachable.get(focused);
  if (event.key.startsWith("Arrow")) {
    event.preventDefault();
    const next = picture.move(focused, event.key);
    if (event.shiftKey && here?.word !== undefined && state.parse.kind === "constituency") return extend(event.key);
    mark(null);
    if (next !== undefined) focusOn(next);
  } else if (event.key === "Enter" && here) {
    event.preventDefault();
    correctThing(thingOf(here));
  } else if (event.key === " " && here?.node && !here.node.isTag) {
    event.preventDefault();
    fold(here.node);
  } else if (["Delete", "Backspace"].includes(event.key) && here) {
    event.preventDefault();
    if (here.node && !here.node.isTag) correct({ kind: "no-span", first: here.node.first, end: here.node.end, label: here.node.label });
    else if (here.arc !== undefined) correct({ kind: "no-head", word: here.arc, head: state.parse.trees[state.tree].heads[here.arc] });
  } else if (event.key === "Escape") mark(null);
});

function keyOf(thing) {
  if (thing.node) return thing.node.number;
  if (thing.arc !== undefined) return `a${thing.arc}`;
  return thing.word === undefined ? undefined : `w${thing.word}`;
}

function thingOf(here) {
  if (here.node) return { node: here.node };
  return here.arc !== undefined ? { arc: here.arc } : { word: here.word };
}

function focusOn(key) {
  picture.reachable.get(focused)?.element.setAttribute("tabindex", -1);
  focused = key;
  const { element } = picture.reachable.get(key);
  element.setAttribute("tabindex", 0);
  element.focus();
  element.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function extend(key) {
  const word = Number(focused.slice(1)), next = word + (key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0);
  if (next < 0 || next >= state.parse.words.length || next === word) return;
  const [low, high] = state.chosen ?? [word, word + 1];
  const anchor = word === low ? high - 1 : low;
  focusOn(`w${next}`);
  mark([Math.min(anchor, next), Math.max(anchor, next) + 1]);
}

function showTip(element, content, event) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const box = element.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const x = event ? event.clientX : box.left + box.width / 2;
  const below = box.bottom + 10 + own.height < innerHeight;
  tip.style.left = `${Math.max(8, Math.min(innerWidth - own.width - 8, x - own.width / 2))}px`;
  tip.style.top = `${below ? box.bottom + 10 : Math.max(8, box.top - own.height - 10)}px`;
}

function hideTip() {
  tip.hidden = true;
}

function hoverChart(element, { span, arc }) {
  const words = state.parse.words;
  const content = () => span
    ? [html("b", {}, `“${words.slice(span.first, span.end).join(" ")}”`), html("table", {}, ...span.parts.map((part) => html("tr", {}, html("td", {}, part.label), html("td", {}, percent(part.probability)))))]
    : [html("b", {}, `${words[arc.first]} → ${arc.head ? words[arc.head - 1] : "the root"} `), percent(arc.probability)];
  element.addEventListener("pointerenter", (event) => {
    showTip(element, content(), event);
    if (span) mark([span.first, span.end]);
  });
  element.addEventListener("pointerleave", () => {
    hideTip();
    mark(null);
  });
}

document.addEventListener("keydown", (event) => {
  if (at("editor").open || !(event.ctrlKey || event.metaKey)) return;
  const key = event.key.toLowerCase(), typing = ["TEXTAREA", "INPUT"].includes(document.activeElement?.tagName);
  if (key === "enter") {
    event.preventDefault();
    accept();
  } else if (key === "z" && !typing) {
    event.preventDefault();
    walk(event.shiftKey ? 1 : -1);
  } else if (key === "y" && !typing) {
    event.preventDefault();
    walk(1);
  }
});

// ---------------------------------------------------------------- learning and the rest

let follower = null, turn = 0;

/** Look how learning goes, more often while it is under way. */
async function follow() {
  clearTimeout(follower);
  const mine = ++turn;
  let pause = 4000;
  try {
    const before = status;
    status = await ask("GET", "/api/status");
    if (before && before.instance !== status.instance) await returned();
    showStatus();
    if (before && status.version !== before.version && before.refit.state === "running" && status.refit.state !== "running") {
      tell("The model was learned anew.");
      if (state.parse && !state.accepted) await refresh();
    }
    if (status.refit.state === "running") pause = 400;
    if (!at("view-queue").hidden) await showQueue();
  } catch {
    pause = 1500;
  }
  if (mine === turn) follower = setTimeout(follow, pause);
}

/** The server was started anew: give it what it does not know any more. */
async function returned() {
  await sendAgain();
  if (state.accepted && state.parse) await sendAccepted(at("by-hand").value);
}

function showStatus() {
  const { refit } = status;
  at("model-line").textContent = `${status.model} · ${status.summary}`;
  at("model-line").title = status.summary;
  at("queue-count").hidden = !status.queue;
  at("queue-count").textContent = status.queue;
  const bank = status.treebank ? `${status.accepted} accepted into ${status.treebank}` : `${status.accepted} accepted, kept nowhere: start with --treebank FILE`;
  const learned = refit.state === "running" ? `Learning anew: ${refit.stage ?? ""} …` : refit.state === "failed" ? `Learning anew failed: ${refit.reason}.`
    : refit.state === "impossible" ? `It cannot be learned anew: ${refit.reason}.` : refit.pending ? `${refit.pending} since it was last learned anew.` : "";
  at("learning").textContent = `${bank}. ${learned}`;
  const bar = at("progress");
  bar.hidden = refit.state !== "running";
  if (refit.total) Object.assign(bar, { max: refit.total, value: refit.done });
  else bar.removeAttribute("value");
  at("refit").disabled = refit.state === "impossible";
  at("refit").textContent = refit.state === "running" ? "Stop learning" : "Learn anew";
  at("save").hidden = status.saved || refit.state !== "idle" || refit.pending > 0;
  at("agreement").replaceChildren(...[agreementChart(status.history)].filter(Boolean), ...(status.history.length > 1 ? [html("p", { class: "soft", style: "margin:0 0 .5rem;font-size:.8rem" }, "Percent right before correction, tree by tree")] : []));
  at("labels").replaceChildren(...status.phrase_labels.map((label) => html("option", { value: label })));
  at("tags").replaceChildren(...status.tags.map((label) => html("option", { value: label })));
}

function choose(view) {
  for (const name of ["parse", "queue", "model"]) {
    const chosen = name === view;
    at(`view-${name}`).hidden = !chosen;
    at(`tab-${name}`).setAttribute("aria-selected", String(chosen));
    at(`tab-${name}`).tabIndex = chosen ? 0 : -1;
  }
  if (view === "queue") showQueue().catch((error) => say(error.message));
  if (view === "model") showModel(status?.version ?? 0).catch((error) => say(error.message));
  if (view === "parse" && picture) resize();
  sessionStorage.setItem("view", view);
}

function keep() {
  const { question, fixes, proposed, queue, accepted } = state;
  sessionStorage.setItem("work", JSON.stringify({ question, fixes, proposed, queue, accepted }));
}

async function restore() {
  const kept = JSON.parse(sessionStorage.getItem("work") ?? "null");
  if (kept?.question) {
    Object.assign(state, kept, { fixes: new Fixes(kept.fixes.past, kept.fixes.at) });
    field.value = kept.question.text ?? kept.question.words.join(" ");
    await refresh();
  } else field.focus();
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

function start() {
  at("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    parseText(field.value);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.ctrlKey) {
      event.preventDefault();
      parseText(field.value);
    }
  });
  at("cancel").addEventListener("click", () => {
    controller?.abort();
    say("Given up.");
  });
  at("undo").addEventListener("click", () => walk(-1));
  at("redo").addEventListener("click", () => walk(1));
  at("accept").addEventListener("click", () => accept());
  at("accept-text").addEventListener("click", () => accept(at("by-hand").value));
  at("tree-before").addEventListener("click", () => flip(-1));
  at("tree-after").addEventListener("click", () => flip(1));
  at("zoom-in").addEventListener("click", () => zoom(1.25));
  at("zoom-out").addEventListener("click", () => zoom(0.8));
  at("zoom-fit").addEventListener("click", () => zoom(0));
  drawing.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.1 : 0.9);
  }, { passive: false });
  for (const button of document.querySelectorAll("#download button")) {
    button.addEventListener("click", () => {
      at("download").open = false;
      download(button.dataset.format, state.parse, state.parse.trees[state.tree], picture.picture);
    });
  }
  at("refit").addEventListener("click", async () => {
    await ask(status.refit.state === "running" ? "DELETE" : "POST", "/api/refit").catch((error) => say(error.message));
    follow();
  });
  at("save").addEventListener("click", async () => {
    await ask("POST", "/api/model/save").then((answer) => say(answer.detail, true), (error) => say(error.message));
    follow();
  });
  at("theme").addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme.startsWith("dark") || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    localStorage.setItem("theme", dark ? "light" : "dark");
    setTheme(localStorage.getItem("theme"));
  });
  setTheme(localStorage.getItem("theme"));
  const tabs = [...document.querySelectorAll("[role=tab]")];
  tabs.forEach((tab, number) => {
    tab.addEventListener("click", () => choose(tab.id.slice(4)));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(number + step + tabs.length) % tabs.length];
      choose(next.id.slice(4));
      next.focus();
    });
  });
  startQueue(openItem, (error) => say(error.message));
  startModel();
  onConnection((there) => {
    at("connection").hidden = there;
    at("connection").textContent = there ? "" : "server away – trying again …";
  });
  addEventListener("resize", () => picture && !state.zoom && resize());
  follow().then(() => {
    const view = sessionStorage.getItem("view");
    if (view && view !== "parse") choose(view);
  });
  restore();
}

start();
