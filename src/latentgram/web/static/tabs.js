// The views of the page.

import { showPeople } from "./agreement.js";
import { showModel } from "./model.js";
import { showQueue } from "./queue.js";
import { resize } from "./showing.js";
import { showTreebank } from "./treebank.js";
import { at, say, view } from "./work.js";

export function choose(wanted) {
  if (at(`view-${wanted}`).hidden) say(null);
  for (const name of ["parse", "queue", "treebank", "people", "model"]) {
    const chosen = name === wanted;
    at(`view-${name}`).hidden = !chosen;
    at(`tab-${name}`).setAttribute("aria-selected", String(chosen));
    at(`tab-${name}`).tabIndex = chosen ? 0 : -1;
  }
  if (wanted === "queue") showQueue().catch((error) => say(error.message));
  if (wanted === "treebank") showTreebank().catch((error) => say(error.message));
  if (wanted === "people") showPeople().catch((error) => say(error.message));
  if (wanted === "model") showModel(view.status?.version ?? 0).catch((error) => say(error.message));
  if (wanted === "parse" && view.picture) resize();
  sessionStorage.setItem("view", wanted);
}
