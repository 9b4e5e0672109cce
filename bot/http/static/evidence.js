// The panel beside the thread that shows the evidence behind a citation.
//
// The open panel is part of the address (?evidence=...), so it can be linked to and the back button closes it.

import { call, fromServer, Refused, say } from "./texts.js";

const panel = document.getElementById("evidence");
const body = document.getElementById("evidence-body");
const overlay = matchMedia("(max-width: 62rem)");
const ABOVE_PX = 48; // some text before the cited part, so that one sees where it stands
let opener = null;
let shown = null;

export function startEvidence() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-evidence]");
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
    event.preventDefault();
    opener = link;
    const address = addressOf(link.dataset.evidence);
    if (shown) history.replaceState(history.state, "", address);
    else history.pushState({ opened: true }, "", address);
    show(link.dataset.evidence);
  });
  document.getElementById("evidence-close").addEventListener("click", close);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && shown && !event.isComposing) close();
  });
  addEventListener("popstate", followAddress);
  overlay.addEventListener("change", coverRest);
  followAddress();
}

function addressOf(chunkId) {
  const address = new URL(location.href);
  if (chunkId) address.searchParams.set("evidence", chunkId);
  else address.searchParams.delete("evidence");
  return address;
}

function followAddress() {
  const wanted = new URL(location.href).searchParams.get("evidence");
  if (wanted) show(wanted);
  else hide();
}

function close() {
  if (history.state?.opened) history.back(); // popstate hides the panel
  else {
    history.replaceState(null, "", addressOf(null));
    hide();
  }
}

async function show(chunkId) {
  if (shown === chunkId) return;
  shown = chunkId;
  panel.hidden = false;
  document.body.classList.add("with-evidence");
  coverRest();
  markLinks();
  body.textContent = say("evidence_loading");
  try {
    const { html } = await call("GET", `/api/evidence/${encodeURIComponent(chunkId)}`);
    if (shown !== chunkId) return;
    body.replaceChildren(fromServer(html));
  } catch (error) {
    if (shown !== chunkId) return;
    body.textContent = error instanceof Refused ? error.message : say("evidence_failed");
  }
  (document.getElementById("evidence-title") ?? body).focus({ preventScroll: true });
  const cited = document.getElementById("cited");
  const scroller = cited?.closest(".document, .code-scroll");
  if (scroller) scroller.scrollTop += cited.getBoundingClientRect().top - scroller.getBoundingClientRect().top - ABOVE_PX;
}

function hide() {
  if (!shown) return;
  shown = null;
  panel.hidden = true;
  body.replaceChildren();
  document.body.classList.remove("with-evidence");
  coverRest();
  markLinks();
  // The post may have been replaced meanwhile: look for the same link again.
  const again = opener?.isConnected ? opener : document.querySelector(`[data-evidence="${CSS.escape(opener?.dataset.evidence ?? "")}"]`);
  (again ?? document.getElementById("main")).focus();
}

// On a small screen the panel lies over everything else, which must then not take the focus.
function coverRest() {
  for (const element of [document.getElementById("main"), document.querySelector(".side")]) {
    element.inert = Boolean(shown) && overlay.matches;
  }
}

function markLinks() {
  for (const link of document.querySelectorAll("a[data-evidence]")) {
    link.classList.toggle("shown", link.dataset.evidence === shown);
  }
}
