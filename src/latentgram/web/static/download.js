// The drawing and the tree as files.

import { ask } from "./api.js";
import { drawArcs } from "./arcs.js";
import { drawTree } from "./tree.js";
import { at, state, view } from "./work.js";
import { zip } from "./zip.js";

const COPIED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "fill-opacity", "font-family", "font-size", "font-weight", "opacity", "paint-order", "stroke-linejoin"];

/** A picture that stands alone: the styles of the page are written into its elements. */
function alone(picture) {
  const copy = picture.cloneNode(true);
  const from = [picture, ...picture.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    to[i].removeAttribute("style");
    to[i].removeAttribute("tabindex");
    for (const name of COPIED) to[i].setAttribute(name, style.getPropertyValue(name));
  });
  const [, , wide, high] = picture.getAttribute("viewBox").split(" ").map(Number);
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", wide);
  ground.setAttribute("height", high);
  ground.setAttribute("fill", getComputedStyle(document.body).getPropertyValue("--card"));
  copy.prepend(ground);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", wide);
  copy.setAttribute("height", high);
  return { text: new XMLSerializer().serializeToString(copy), wide, high };
}

export function offer(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function png({ text, wide, high }) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const scale = Math.min(2, 8000 / wide);
  const canvas = document.createElement("canvas");
  canvas.width = wide * scale;
  canvas.height = high * scale;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** Pictures of trees, drawn on a page of HTML, as PNG files in one ZIP file. */
export async function pictures(page, name) {
  const drawn = [...new DOMParser().parseFromString(page, "text/html").querySelectorAll("svg")], files = [];
  for (const [place, picture] of drawn.entries()) {
    const [, , wide, high] = picture.getAttribute("viewBox").split(" ").map(Number);
    const made = await png({ text: new XMLSerializer().serializeToString(picture), wide, high });
    files.push([`${name}-${String(place + 1).padStart(4, "0")}.png`, new Uint8Array(await made.arrayBuffer())]);
  }
  offer(zip(files), `${name}.zip`);
}

/** The picture of the tree, also where it is shown as a list. */
function picture(parse, tree) {
  if (!view.outline) return alone(view.picture.picture);
  const { fixes, collapsed } = state;
  const made = (parse.kind === "dependency" ? drawArcs : drawTree)(parse, tree, { fixes, collapsed, chosen: null, changes: null, act: () => {} }).picture;
  at("drawing").append(made);  // styles are known of what is on the page only
  const found = alone(made);
  made.remove();
  return found;
}

export async function download(format, parse, tree) {
  const name = parse.words.slice(0, 5).join("-").replace(/[^\p{L}\p{N}-]/gu, "") || "tree";
  const text = (content, ending, type = "text/plain") => offer(new Blob([content], { type }), `${name}.${ending}`);
  if (format === "svg") text(picture(parse, tree).text, "svg", "image/svg+xml");
  else if (format === "png") offer(await png(picture(parse, tree)), `${name}.png`);
  else if (format === "json") text(JSON.stringify(parse, null, 1), "json", "application/json");
  else if (format === "latex") text((await ask("POST", "/api/export", { trees: [tree.plain], format: "latex" })).content, "tex");
  else if (parse.kind === "dependency") text(tree.annotated, "conllu");
  else text(format === "annotated" ? tree.annotated : tree.plain, "mrg");
}
