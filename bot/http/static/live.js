// Keeps the page's list up to date from the event stream.
//
// Browsers allow six connections to one host, and a stream holds one: a hidden tab closes its stream and catches up
// from the last event it saw when it is shown again.

import { announce, fromServer, localTimes, say } from "./texts.js";

const { channel, root } = document.body.dataset;
const items = document.getElementById("items");
const box = items.parentElement;
let cursor = document.body.dataset.cursor;
let source = null;
let lostTimer = null;

export function startLive() {
  if (!location.hash) showEnd(items.lastElementChild);
  document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
  addEventListener("pagehide", disconnect);
  if (!document.hidden) connect();
  announceEarlyAnswer();
}

// A quick answer is in the page already when a new thread opens: no event brings it, so it is said here, a moment later
// because screen readers pass over what a live region holds while the page loads.
function announceEarlyAnswer() {
  if (sessionStorage.getItem("asked") !== location.pathname) return;
  sessionStorage.removeItem("asked");
  const body = items.querySelector('.bot[data-state="final"] .body');
  if (body) setTimeout(() => announce(say("answered", { text: body.textContent.trim().slice(0, 300) })), 300);
}

function connect() {
  if (source) return;
  const query = new URLSearchParams({ channel, after: cursor });
  if (root) query.set("root", root);
  source = new EventSource(`/events?${query}`);
  source.addEventListener("open", () => showLost(false));
  source.addEventListener("error", () => {
    showLost(true);
    if (source?.readyState === EventSource.CLOSED) { // the browser gave up, e.g. after an error status
      disconnect();
      setTimeout(() => document.hidden || connect(), 3000);
    }
  });
  listen("item", showItem);
  listen("reset", loadAgain);
  listen("status", ({ indexing }) => showIndexing(indexing));
}

// Whether the reader looks at the end of the list, or at the beginning of the last item while it grows.
function isFollowed(last) {
  if (!last || box.scrollHeight - box.scrollTop - box.clientHeight < 120) return true;
  return Math.abs(topOf(last)) < 4;
}

// Distance of an item from where a list begins on the screen.
function topOf(item) {
  return item.getBoundingClientRect().top - box.getBoundingClientRect().top - 16;
}

function disconnect() {
  source?.close();
  source = null;
}

function listen(name, handle) {
  source.addEventListener(name, (event) => {
    if (event.lastEventId) cursor = event.lastEventId;
    handle(JSON.parse(event.data));
  });
}

function showItem({ id, html, spoken }) {
  const item = fromServer(html).firstElementChild;
  const followsEnd = isFollowed(items.lastElementChild);
  const old = document.getElementById(id);
  if (old) {
    const focused = old.contains(document.activeElement) ? focusKey(document.activeElement) : null;
    old.replaceWith(item);
    if (focused) item.querySelector(focused)?.focus();
  } else {
    const seq = Number(item.dataset.seq);
    items.insertBefore(item, [...items.children].find((other) => Number(other.dataset.seq) > seq) ?? null);
  }
  document.getElementById("empty")?.remove();
  if (followsEnd) showEnd(items.lastElementChild);
  if (spoken) announce(say("answered", { text: spoken }));
}

// Scrolls to the end, but not past the beginning of `item`: a long answer is read from its first line.
function showEnd(item) {
  if (!item) return;
  box.scrollTop = Math.min(box.scrollHeight - box.clientHeight, box.scrollTop + topOf(item));
}

// A replaced post keeps the keyboard where it was.
function focusKey(element) {
  if (element.dataset.vote) return `[data-vote="${element.dataset.vote}"]`;
  if (element.dataset.evidence) return `[data-evidence="${CSS.escape(element.dataset.evidence)}"]`;
  return null;
}

// Too much was missed to catch up, or the server was started anew: take the list of a fresh page.
async function loadAgain() {
  const response = await fetch(location.pathname + location.search);
  if (!response.ok) return location.reload();
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  const list = fresh.getElementById("items");
  if (!list) return location.reload();
  localTimes(list);
  items.replaceChildren(...list.children);
}

function showLost(isLost) {
  clearTimeout(lostTimer);
  const banner = document.getElementById("connection-banner");
  if (!isLost) banner.hidden = true;
  // A short break is not worth a word.
  else lostTimer = setTimeout(() => show(banner, say("connection_lost")), 1500);
}

function showIndexing(indexing) {
  const banner = document.getElementById("index-banner");
  if (!indexing) banner.hidden = true;
  else if (indexing.total === null) show(banner, say("reading"));
  else show(banner, say(indexing.stage === "embed" ? "embedding_n" : "reading_n", indexing));
}

function show(banner, text) {
  banner.textContent = text;
  banner.hidden = false;
}
