// What is inside the model: symbols, what their hidden states mean, spectra, automata.

import { ask } from "./api.js";
import { bars } from "./chart.js";
import { html, percent } from "./svg.js";

const head = document.getElementById("model-head"), list = document.getElementById("symbols"), stage = document.getElementById("symbol");
let symbols = [], current = null, direction = "left", clusters = 6, version = -1, turn = 0;

export function startModel() {
  document.getElementById("symbol-filter").addEventListener("input", (event) => fill(event.target.value));
  list.addEventListener("keydown", (event) => {
    if (!["ArrowDown", "ArrowUp"].includes(event.key)) return;
    event.preventDefault();
    const names = [...list.children].map((option) => option.dataset.name);
    const next = names[names.indexOf(current) + (event.key === "ArrowDown" ? 1 : -1)];
    if (next !== undefined) choose(next);
  });
}

export async function showModel(now) {
  if (now === version) return;
  const model = await ask("GET", "/api/model");
  version = now;
  symbols = model.symbols;
  const settings = Object.entries(model.settings).filter(([, value]) => value !== null).map(([name, value]) => `${name} ${value}`).join(", ");
  head.replaceChildren(html("h2", {}, model.summary), html("p", { class: "soft" },
    `Learned by ${model.learner || "an unknown learner"}${settings ? ` (${settings})` : ""} from ${model.data_size.toLocaleString("en")} trees in ${model.seconds.toFixed(1)} s.`));
  fill("");
  const first = symbols.find((symbol) => symbol.states > 1 && symbol.kind !== "tag") ?? symbols[0];
  if (first) await choose(current && symbols.some((symbol) => symbol.name === current) ? current : first.name);
  else stage.replaceChildren(html("p", { class: "soft" }, "This model has no hidden states to show."));
}

function fill(filter) {
  const wanted = symbols.filter((symbol) => symbol.name.toLowerCase().includes(filter.toLowerCase()));
  list.replaceChildren(...wanted.slice(0, 400).map((symbol) => html("div", {
    role: "option", "data-name": symbol.name, "aria-selected": String(symbol.name === current), onclick: () => choose(symbol.name),
  }, html("span", {}, symbol.name), html("small", {}, `${symbol.states} ${symbol.states === 1 ? "state" : "states"} · ${Math.round(symbol.count).toLocaleString("en")}`))));
}

async function choose(name) {
  current = name;
  for (const option of list.children) option.setAttribute("aria-selected", String(option.dataset.name === name));
  list.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  const query = new URLSearchParams({ name, direction, clusters }), mine = ++turn;
  if (!stage.hasChildNodes()) stage.append(html("p", { class: "soft" }, "Loading …"));
  try {
    const found = await ask("GET", `/api/model/symbol?${query}`);
    if (mine === turn) draw(found);
  } catch (error) {
    if (mine === turn) stage.replaceChildren(html("h2", {}, name), html("p", { class: "soft" }, error.message));
  }
}

function draw(found) {
  const parts = [html("h2", {}, found.direction ? `${found.direction === "left" ? "Left" : "Right"} modifiers of ${found.symbol}` : found.symbol)];
  if (found.direction) parts.push(controls());
  if (found.note) parts.push(html("p", { class: "soft" }, found.note));
  if (found.svg) {
    parts.push(picture(found.svg, `The automaton of ${found.symbol}`), html("p", { class: "soft" }, "The automaton that generates the modifiers from the head outwards, as a small deterministic one. A state shows its stopping probability; hover for more."));
  }
  const charts = [[found.singular_values, "singular values"], [found.strengths, found.strengths_name]].filter(([values]) => values.length > 1);
  if (charts.length) parts.push(html("div", { class: "spectra" }, ...charts.map(([values, name]) => bars(values.slice(0, 40), name))));
  if (found.coordinates.length) parts.push(html("div", { class: "states" }, ...found.coordinates.map(coordinate)));
  if (found.states.length) parts.push(html("div", { class: "states" }, ...found.states.map((state) => card(state, found.direction))));
  stage.replaceChildren(...parts);
}

/** A drawing on white paper; it brings its own style, which is not for the page. */
function picture(text, label) {
  const drawing = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
  for (const style of drawing.querySelectorAll("style")) style.textContent = style.textContent.replace(/@media\(prefers-color-scheme:dark\)\{.*\}\}/, "");
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", label);
  const place = html("div", { class: "picture" });
  place.attachShadow({ mode: "open" }).append(html("style", {}, "svg { max-width: 100%; height: auto; display: block; margin: auto }"), drawing);
  return place;
}

function controls() {
  const sides = ["left", "right"].map((side) => html("label", {}, html("input", { type: "radio", name: "side", value: side, checked: side === direction, onchange: () => {
    direction = side;
    choose(current);
  } }), ` ${side} `));
  const number = html("select", { "aria-label": "maximum number of states", style: "width:auto", onchange: (event) => {
    clusters = Number(event.target.value);
    choose(current);
  } }, ...[3, 6, 10, 15].map((size) => html("option", { value: size, selected: size === clusters }, `up to ${size} states`)));
  return html("div", { class: "group" }, ...sides, number);
}

function rows(items) {
  return html("ul", {}, ...items.map((item) => html("li", {}, html("span", {}, item.event), html("span", {}, percent(item.probability) + (item.lift ? `  ×${item.lift.toFixed(1)}` : "")))));
}

function typical(tree) {
  return html("figure", {}, picture(tree.svg, tree.plain), html("figcaption", { class: "soft", title: "the probability of this tree below the symbol" }, tree.probability >= 0.01 ? percent(tree.probability) : tree.probability.toExponential(0)));
}

/** What a coordinate of a spectral grammar tells apart. */
function coordinate({ name, ends }) {
  const shown = ends.flatMap(({ events, subtrees }, side) => [html("h4", {}, side ? "at the other end" : "at one end"), rows(events), ...subtrees.map(typical)]);
  return html("div", { class: "state" }, html("h3", {}, html("span", {}, name)), ...shown);
}

function card(state, isAutomaton) {
  return html("div", { class: "state" },
    html("h3", {}, html("span", {}, state.name), html("span", { class: "soft" }, isAutomaton ? `${state.share.toFixed(2)} visits` : percent(state.share))),
    isAutomaton && state.above.length ? html("div", {}, html("h4", {}, "reached after"), html("ul", {}, ...state.above.map((item) => html("li", {}, item.event)))) : null,
    state.subtrees.length ? html("h4", {}, "typical trees") : null, ...state.subtrees.map(typical),
    html("h4", {}, isAutomaton ? "continues with" : "is rewritten as"), rows(state.below),
    !isAutomaton && state.above.length ? html("h4", {}, "stands in") : null, !isAutomaton ? rows(state.above) : null);
}
