// Requests to the server: token, errors as sentences, and what to do while the server is away.

const token = takeToken();
const watchers = new Set();
let connected = true;

/** The token of the address (`#token=…`) is kept for this tab and taken out of the address bar. */
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname);
  }
  return given ?? sessionStorage.getItem("token");
}

export class Problem extends Error {
  constructor(detail, status, value = null) {
    super(detail);
    this.status = status;
    this.value = value;
  }
}

export function onConnection(watch) {
  watchers.add(watch);
}

function setConnected(now) {
  if (now === connected) return;
  connected = now;
  watchers.forEach((watch) => watch(now));
}

/** Ask the server; throws a Problem whose message is for people, or an AbortError. */
export async function ask(method, path, body, signal) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token) headers.Authorization = `Bearer ${token}`;
  let answer, text;
  try {
    answer = await fetch(path, { method, headers, body: body && JSON.stringify(body), signal });
    text = await answer.text(); // Given up or cut off half-way, it is no answer.
  } catch (error) {
    if (error.name === "AbortError") throw error;
    setConnected(false);
    throw new Problem("The server does not answer. Your work is kept here in the meantime.", 0);
  }
  setConnected(true);
  const value = read(text);
  if (!answer.ok || value === null) throw new Problem(sentence(value?.detail ?? `the server answered with status ${answer.status}`), answer.status, value);
  return value;
}

/** What a proxy answers instead of the server may be no JSON. */
function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A remark as a sentence. */
export function sentence(detail) {
  const text = String(detail);
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}
