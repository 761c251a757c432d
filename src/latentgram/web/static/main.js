// The page: puts its parts together, and takes up again what was on it before a reload.

import { ask, onConnection } from "./api.js";
import { accept } from "./accepting.js";
import { prepare } from "./ahead.js";
import { startColumns } from "./columns.js";
import { correct, openItem, openPasted, parseText, refresh, walk } from "./asking.js";
import { download } from "./download.js";
import { startEditor } from "./editor.js";
import { Fixes } from "./fixes.js";
import { showHelp } from "./help.js";
import "./keys.js";
import { follow } from "./learning.js";
import { startModel } from "./model.js";
import { startNotes } from "./notes.js";
import { showPasted, startPasted, written } from "./pasted.js";
import { startPeople } from "./people.js";
import { startQueue } from "./queue.js";
import { draw, flip, resize, startShowing, zoom } from "./showing.js";
import { choose } from "./tabs.js";
import { startTools } from "./tools.js";
import { startTreebank } from "./treebank.js";
import { at, say, setAnnotating, state, view } from "./work.js";

const drawing = at("drawing"), field = at("sentence");

async function restore() {
  const kept = JSON.parse(sessionStorage.getItem("work") ?? "null");
  if (kept?.question) {
    Object.assign(state, kept, { fixes: new Fixes(kept.fixes.past, kept.fixes.at) });
    setAnnotating(state.queue !== null || Boolean(state.reopened));
    field.value = written(kept.question);
    showPasted();
    if (await refresh()) prepare();
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
    view.controller?.abort();
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
      download(button.dataset.format, state.parse, state.parse.trees[state.tree]);
    });
  }
  at("refit").addEventListener("click", async () => {
    await ask(view.status.refit.state === "running" ? "DELETE" : "POST", "/api/refit").catch((error) => say(error.message));
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
    tab.addEventListener("click", () => {
      // Who annotates has the input folded away; the tab of this view opens it.
      if (tab.id === "tab-parse" && !at("view-parse").hidden) {
        setAnnotating(false);
        field.focus();
      }
      choose(tab.id.slice(4));
    });
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(number + step + tabs.length) % tabs.length];
      choose(next.id.slice(4));
      next.focus();
    });
  });
  const cut = [at("tokenised"), at("queue-tokenised")];
  for (const box of cut) {
    box.checked = localStorage.getItem("tokenised") === "yes";
    box.addEventListener("change", () => {
      localStorage.setItem("tokenised", box.checked ? "yes" : "no");
      for (const other of cut) other.checked = box.checked;
    });
  }
  startEditor(correct);
  startShowing();
  startTools();
  startColumns(draw);
  startNotes();
  startPeople();
  startTreebank();
  at("help-button").addEventListener("click", showHelp);
  startPasted(openPasted);
  startQueue(openItem, (error) => say(error.message));
  startModel();
  onConnection((there) => {
    at("connection").hidden = there;
    at("connection").textContent = there ? "" : "server not reachable – trying again …";
  });
  // Whatever takes room from the tree, it is fitted anew, and the words stay in sight.
  new ResizeObserver(() => view.picture && resize()).observe(drawing);
  follow().then(() => {
    const before = sessionStorage.getItem("view");
    if (before && before !== "parse") choose(before);
  });
  restore();
}

start();
