// Writing: the mention that calls the bot, sending, examples, votes, names and channels.

import { announce, call, Refused, say } from "./texts.js";

const form = document.getElementById("compose-form");
const field = document.getElementById("compose");
const problem = document.getElementById("compose-problem");
const hint = document.getElementById("mention-hint");
const { mention, limit } = document.body.dataset;
let key = crypto.randomUUID?.() ?? String(Math.random()); // plain http elsewhere than on localhost has no randomUUID

export function startCompose() {
  field.addEventListener("input", onInput);
  field.addEventListener("keydown", (event) => {
    // While a Korean syllable is being composed, Enter belongs to the input method.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", send);
  // The caret belongs behind the mention that stands there already, not in front of it.
  field.addEventListener("focus", () => field.value === `${mention} ` && field.selectionEnd === 0 && focusEnd());
  document.getElementById("add-mention").addEventListener("click", () => setText(`${mention} ${field.value.trimStart()}`));
  document.addEventListener("click", (event) => {
    const { example } = event.target.dataset ?? {};
    if (example) setText(`${mention} ${example}`);
    if (event.target.dataset?.vote) vote(event.target);
  });
  if (matchMedia("(hover: hover)").matches && !location.hash) focusEnd(); // on a phone the keyboard would cover the page
  fit();
}

function setText(text) {
  field.value = text;
  onInput();
  focusEnd();
}

function focusEnd() {
  field.focus({ preventScroll: true });
  field.setSelectionRange(field.value.length, field.value.length);
}

function onInput() {
  const text = field.value.trim();
  hint.hidden = !("needsMention" in form.dataset) || !text || text.toLowerCase().includes(mention.toLowerCase());
  const tooLong = text.length > Number(limit);
  problem.textContent = tooLong ? say("too_long", { n: text.length, limit }) : "";
  fit();
}

function fit() {
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}

async function send(event) {
  event.preventDefault();
  const button = form.querySelector("[type=submit]");
  const text = field.value.trim();
  if (!text || text.toLowerCase() === mention.toLowerCase() || button.disabled) return;
  button.disabled = true;
  button.textContent = say("sending");
  problem.textContent = "";
  try {
    const { url } = await call("POST", form.dataset.action, { text, key });
    key = crypto.randomUUID?.() ?? String(Math.random());
    if ("needsMention" in form.dataset) {
      sessionStorage.setItem("asked", new URL(url, location.href).pathname);
      return void location.assign(url);
    }
    field.value = "";
    fit();
    focusEnd();
  } catch (error) {
    problem.textContent = error instanceof Refused ? error.message : say("send_failed");
  }
  button.disabled = false;
  button.textContent = say("send");
}

async function vote(button) {
  try {
    await call("POST", `/api/posts/${button.dataset.post}/feedback`, { vote: button.dataset.vote });
    for (const other of button.parentElement.querySelectorAll("[data-vote]")) {
      other.setAttribute("aria-pressed", String(other === button));
    }
    announce(say("vote_thanks"));
  } catch (error) {
    announce(error instanceof Refused ? error.message : say("vote_failed"));
  }
}

export function startForms() {
  onSubmit("name-form", async (name) => {
    await call("PUT", "/api/me", { name });
    location.reload();
  });
  onSubmit("channel-form", async (name) => location.assign((await call("POST", "/api/channels", { name })).url));
  document.getElementById("sign-out")?.addEventListener("click", async () => {
    location.assign((await call("POST", "/api/logout", {})).url);
  });
}

function onSubmit(id, act) {
  const named = document.getElementById(id);
  named.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await act(named.elements.name.value);
    } catch (error) {
      named.querySelector(".problem").textContent = error instanceof Refused ? error.message : say("send_failed");
    }
  });
}
