// Dialogs, on the browser's own: it keeps the focus within and closes them at Escape.
import { get, patch, post, remove } from "./api.js";
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

/** A field with a button; `other` is a second button, with what it does. */
export function Line({ label, button, onGiven, other, needed = false, given = "" }) {
  const [text, setText] = useState(given);
  const submit = (event) => {
    event.preventDefault();
    onGiven(text.trim());
  };
  return html`<form class="line" onSubmit=${submit}>
    <label>${label}<input maxlength="10000" required=${needed} value=${text} onInput=${(event) => setText(event.target.value)} /></label>
    <button>${button}</button>
    ${other && html`<button type="button" onClick=${() => other[1](text.trim())}>${other[0]}</button>`}
  </form>`;
}

/** Saved answers and definitions, with who and when; each can be changed and removed. */
export function Lessons({ open, onClose }) {
  const [lessons, setLessons] = useState([]);
  const [edited, setEdited] = useState("");
  const [problem, setProblem] = useState(null);
  const load = () => get("lessons").then((found) => (setLessons(found), setEdited(""), setProblem(null)), setProblem);
  useEffect(() => void (open && load()), [open]);
  const change = (request) => request.then(load, setProblem);
  const edits = (lesson) => (lesson.kind === "answer" ? [["question", lesson.name], ["query", lesson.meaning]] : [["meaning", lesson.meaning]]);
  return html`<${Dialog} title="What was saved" open=${open} onClose=${onClose}>
    ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
    ${lessons.length === 0 && html`<p class="quiet">Nothing yet.</p>`}
    ${lessons.map((lesson) => html`<section class="panel" key=${lesson.id} aria-label=${lesson.name}>
      <p><b dir="auto">${lesson.name}</b> <span class="quiet">${[lesson.kind, lesson.author, lesson.added.slice(0, 10)].filter(Boolean).join(" · ")}</span></p>
      ${lesson.meaning !== lesson.name && html`<p class="text" dir="auto">${lesson.kind === "answer" ? html`<code>${lesson.meaning}</code>` : lesson.meaning}</p>`}
      <div class="buttons">
        ${edits(lesson).map(([part]) => html`<button onClick=${() => setEdited(lesson.id + part)}>Edit ${part}</button>`)}
        <button onClick=${() => change(remove(`lessons/${lesson.id}`))}>Remove</button>
      </div>
      ${edits(lesson).map(([part, text]) => edited === lesson.id + part && html`<${Line} label=${`The new ${part}`} button="Save" needed given=${text}
        onGiven=${(now) => change(patch(`lessons/${lesson.id}`, { text: now }))} />`)}
    </section>`)}
  </${Dialog}>`;
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
