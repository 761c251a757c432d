// Notes on labels: what the guidelines say, shown where a label is.

import { plainLabel } from "./labels.js";
import { html } from "./svg.js";

let notes = {};

export function setGuidelines(told) {
  notes = told ?? {};
}

/** What the guidelines say of a label; function tags do not matter. */
export function guidelineOf(label) {
  if (!label) return [];
  const text = notes[label] ?? notes[plainLabel(label)];
  return text ? [html("div", { class: "guideline" }, html("h3", {}, `Guideline for ${label}`), html("p", {}, text))] : [];
}
