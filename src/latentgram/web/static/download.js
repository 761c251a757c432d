// The drawing and the tree as files.

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

function offer(blob, name) {
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

export async function download(format, parse, tree, picture) {
  const name = parse.words.slice(0, 5).join("-").replace(/[^\p{L}\p{N}-]/gu, "") || "tree";
  if (format === "svg") offer(new Blob([alone(picture).text], { type: "image/svg+xml" }), `${name}.svg`);
  else if (format === "png") offer(await png(alone(picture)), `${name}.png`);
  else if (format === "json") offer(new Blob([JSON.stringify(parse, null, 1)], { type: "application/json" }), `${name}.json`);
  else if (parse.kind === "dependency") offer(new Blob([tree.annotated], { type: "text/plain" }), `${name}.conllu`);
  else offer(new Blob([format === "annotated" ? tree.annotated : tree.plain], { type: "text/plain" }), `${name}.mrg`);
}
