// Dialogs, on the browser's own: it keeps the focus within and closes them at Escape.
import { post } from "./api.js";
import { html, useEffect, useRef, useState } from "./html.js";
import { Icon } from "./icons.js";

export function Dialog({ title, open, onClose, children }) {
  const place = useRef(null);
  useEffect(() => {
    if (open && !place.current.open) place.current.showModal();
    if (!open && place.current.open) place.current.close();
  }, [open]);
  return html`<dialog ref=${place} onClose=${onClose} aria-label=${title}>
    ${open && html`<div class="title"><h2>${title}</h2><button class="bare" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button></div>${children}`}
  </dialog>`;
}

const KEYS = [
  ["Enter", "ask"], ["Shift+Enter", "a new line"], ["Esc", "stop the turn that runs"], ["Ctrl+Enter", "run the query that you edit"],
  ["/", "go to the question", true], ["n", "new conversation", true], ["j, k", "next, previous turn", true], ["t", "conversations", true],
  ["s", "schema", true], ["d", "dark or light", true], ["?", "these keys", true],
];

export function Help({ open, onClose, single, setSingle }) {
  return html`<${Dialog} title="Keys" open=${open} onClose=${onClose}>
    <table class="keys"><tbody>${KEYS.map(([key, does, alone]) => html`<tr class=${alone && !single ? "off" : ""}><th scope="row"><kbd>${key}</kbd></th><td>${does}</td></tr>`)}</tbody></table>
    <label class="check"><input type="checkbox" checked=${single} onChange=${(event) => setSingle(event.target.checked)} /> Keys of one letter or sign do something</label>
  </${Dialog}>`;
}

/** Asks for the server's token, where it has one: instead of the page, or over it where a session has ended. */
export function SignIn({ onDone }) {
  return html`<main class="signin"><h1>tableturn</h1><${Token} onDone=${onDone} /></main>`;
}

export function SignInAgain({ open, onDone, onClose }) {
  return html`<${Dialog} title="Sign in again" open=${open} onClose=${onClose}><p>Your session has ended. What you asked is still here.</p><${Token} onDone=${onDone} /></${Dialog}>`;
}

function Token({ onDone }) {
  const [problem, setProblem] = useState(null);
  const submit = (event) => {
    event.preventDefault();
    post("session", { token: event.target.elements.token.value }).then(onDone, setProblem);
  };
  return html`<div>
    <form class="line" onSubmit=${submit}>
      <input hidden name="user" autocomplete="username" value="tableturn" readonly />
      <label>The server's token<input name="token" type="password" autocomplete="current-password" required /></label>
      <button class="main">Sign in</button></form>
    ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
  </div>`;
}
