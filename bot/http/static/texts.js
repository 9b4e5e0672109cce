// Texts of this page in the reader's language; the server put them on the body.

const texts = JSON.parse(document.body.dataset.texts);

export function say(key, values = {}) {
  return texts[key].replace(/\{(\w+)\}/g, (place, name) => String(values[name] ?? place));
}

export function announce(text) {
  document.getElementById("announce").textContent = text;
}

// Times come in UTC; people want their own clock.
export function localTimes(root) {
  const day = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium" });
  const clock = new Intl.DateTimeFormat(document.documentElement.lang, { hour: "numeric", minute: "2-digit" });
  const today = day.format(new Date());
  for (const element of root.querySelectorAll("time")) {
    const at = new Date(element.dateTime);
    const date = day.format(at);
    element.textContent = date === today ? clock.format(at) : `${date} ${clock.format(at)}`;
    element.title = at.toLocaleString(document.documentElement.lang);
  }
}

// The only way markup enters the page. It is the server's own rendering (bot/http/posts_html.py, evidence.py), where
// every text from people, models and documents is escaped; and the content policy runs no inline script in any case.
export function fromServer(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  localTimes(template.content);
  return template.content;
}

// The answer of the JSON interface; throws an Error whose message can be shown.
export async function call(method, address, body) {
  const response = await fetch(address, {
    method,
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (response.status === 401) location.reload(); // the session ended: the server leads to the login page
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer.error.message);
  return answer;
}

// The server said no and said why; any other error means that it was not reached.
export class Refused extends Error {}
