// How learning goes, what was accepted, and what the server says of itself.

import { Problem, ask } from "./api.js";
import { sendLetters } from "./accepting.js";
import { refresh } from "./asking.js";
import { agreementChart, heldoutChart } from "./chart.js";
import { setGuidelines } from "./guidelines.js";
import { showName } from "./people.js";
import { progressText, sendAgain, showQueue } from "./queue.js";
import { html } from "./svg.js";
import { at, state, tell, view } from "./work.js";

let follower = null, turn = 0;

/** Look how learning goes, more often while it is under way. */
export async function follow() {
  clearTimeout(follower);
  const mine = ++turn;
  let pause = 4000;
  try {
    const status = await ask("GET", "/api/status");
    // A server that was started anew does not know what was added to its queue here.
    if (view.status && view.status.instance !== status.instance) await sendAgain();
    if (mine !== turn) return; // A later look tells more.
    const before = view.status;
    view.status = status;
    showStatus();
    sendLetters();
    if (view.lost) refresh();
    // The tree on the screen stays: nobody accepts another one than he has looked at.
    if (before && view.status.version !== before.version && before.refit.state === "running" && view.status.refit.state !== "running") tell("The model was retrained.");
    if (view.status.refit.state === "running" || view.status.warming) pause = 400;
    if (!at("view-queue").hidden) await showQueue();
  } catch (error) {
    if (!(error instanceof Problem)) reportError(error);
    pause = 1500;
  }
  if (mine === turn) follower = setTimeout(follow, pause);
}

function showStatus() {
  const { refit } = view.status;
  at("model-line").textContent = `${view.status.model} · ${view.status.warming ? "loading …" : view.status.summary}`;
  at("model-line").title = view.status.summary;
  at("queue-count").hidden = !view.status.queue;
  at("queue-count").textContent = view.status.queue;
  at("queue-count").title = progressText(view.status.progress);
  at("work-progress").textContent = state.queue === null ? "" : `${progressText(view.status.progress)}.`;
  at("pattern").placeholder = `Words, or a pattern: ${view.status.kind === "dependency" ? "V -[obj]-> N" : "NP < PP"}`;
  setGuidelines(view.status.guidelines);
  showName();
  const bank = view.status.treebank ? `${view.status.accepted} accepted into ${view.status.treebank}` : `${view.status.accepted} accepted, kept nowhere: start with --treebank FILE`;
  const learned = refit.state === "running" ? `Retraining: ${refit.stage ?? ""} …` : refit.state === "failed" ? `Retraining failed: ${refit.reason}.`
    : refit.state === "impossible" ? `It cannot be retrained: ${refit.reason}.` : refit.pending ? `${refit.pending} since it was last retrained.` : "";
  at("learning").textContent = `${bank}. ${learned}`;
  const bar = at("progress");
  bar.hidden = refit.state !== "running";
  if (refit.total) Object.assign(bar, { max: refit.total, value: refit.done });
  else bar.removeAttribute("value");
  at("refit").disabled = refit.state === "impossible";
  at("refit").textContent = refit.state === "running" ? "Stop retraining" : "Retrain";
  at("save").hidden = view.status.saved || refit.state !== "idle" || refit.pending > 0;
  at("agreement").replaceChildren(...curves(view.status));
  at("labels").replaceChildren(...view.status.phrase_labels.map((label) => html("option", { value: label })));
  at("relations").replaceChildren(...view.status.relations.map((label) => html("option", { value: label })));
  at("universal").replaceChildren(...view.status.universal_tags.map((tag) => html("option", { value: tag })));
  at("tags").replaceChildren(...view.status.tags.map((label) => html("option", { value: label })));
}

/** How the parser does: before correction, and on held-out trees if there are any. */
function curves({ history, heldout }) {
  const found = [[agreementChart(history), "Percent right before correction, tree by tree"], [heldoutChart(heldout ?? []), "Percent right on held-out trees"]];
  return found.filter(([chart]) => chart).flatMap(([chart, text]) => [chart, html("p", { class: "soft caption" }, text)]);
}
