// Dialogs, on the browser's own: it keeps the focus within and closes them at Escape.
import { get, patch, post, remove } from "./api.js";
import { html, useEffect, useRef, useState } from "./html.js";
import { Icon } from "./icons.js";
import { say } from "./labels.js";

export function Dialog({ title, open, onClose, children }) {
  const place = useRef(null);
  useEffect(() => {
    if (open && !place.current.open) place.current.showModal();
    if (open) focus(place.current.querySelector("form input:not([hidden])")); // not its first button
    if (!open && place.current.open) place.current.close();
  }, [open]);
  return html`<dialog ref=${place} onClose=${onClose} aria-label=${title}>
    ${open && html`<div class="title"><h2>${title}</h2><button class="bare" aria-label=${say("page_close")} onClick=${onClose}><${Icon} name="close" /></button></div>${children}`}
  </dialog>`;
}

/** A field with a button; `other` is a second button, with what it does; `hint` stands in the empty field; `focused` has the keys at once. */
export function Line({ label, button, onGiven, other, needed = false, focused = false, given = "", hint = "" }) {
  const [text, setText] = useState(given);
  const submit = (event) => {
    event.preventDefault();
    onGiven(text.trim());
  };
  return html`<form class="line" onSubmit=${submit}>
    <label>${label}<input ref=${focused ? focus : null} maxlength="10000" required=${needed} placeholder=${hint} value=${text} onInput=${(event) => setText(event.target.value)} /></label>
    <button>${button}</button>
    ${other && html`<button type="button" onClick=${() => other[1](text.trim())}>${other[0]}</button>`}
  </form>`;
}

const focus = (field) => field?.focus();

const KINDS = {
  answer: "page_answer", term: "page_term", metric: "page_metric", table: "page_of_table", column: "page_column", join: "page_join",
  convention: "page_convention", never: "page_never",
};

/** Saved answers and definitions, with who and when; each can be changed and removed. */
export function Lessons({ open, onClose }) {
  const [lessons, setLessons] = useState([]);
  const [edited, setEdited] = useState("");
  const [problem, setProblem] = useState(null);
  const load = () => get("lessons").then((found) => (setLessons(found), setEdited(""), setProblem(null)), setProblem);
  useEffect(() => void (open && load()), [open]);
  const change = ({ id }, request) => request.then(load, ({ message }) => setProblem({ message, id }));
  const told = (id) => problem && problem.id === id && html`<p class="problem" role="alert">${problem.message}</p>`;
  const edits = (lesson) => (lesson.kind === "answer" ? [["page_edit_question", "page_new_question", lesson.name], ["page_edit_query", "page_new_query", lesson.meaning]]
    : [["page_edit_meaning", "page_new_meaning", lesson.meaning]]);
  return html`<${Dialog} title=${say("page_saved")} open=${open} onClose=${onClose}>
    ${told()}
    ${lessons.length === 0 && html`<p class="quiet">${say("page_nothing")}</p>`}
    ${lessons.map((lesson) => html`<section class="panel" key=${lesson.id} aria-label=${lesson.name}>
      <p><b dir="auto">${lesson.name}</b> <span class="quiet">${[say(KINDS[lesson.kind]), lesson.author, lesson.added.slice(0, 10), lesson.unchecked && say("page_unchecked", { why: lesson.unchecked })].filter(Boolean).join(" · ")}</span></p>
      ${lesson.meaning !== lesson.name && html`<p class="text" dir="auto">${lesson.kind === "answer" ? html`<code>${lesson.meaning}</code>` : lesson.meaning}</p>`}
      <div class="buttons">
        ${edits(lesson).map(([name]) => html`<button onClick=${() => setEdited(lesson.id + name)}>${say(name)}</button>`)}
        <button onClick=${() => change(lesson, remove(`lessons/${lesson.id}`))}>${say("page_remove")}</button>
      </div>
      ${told(lesson.id)}
      ${edits(lesson).map(([name, label, text]) => edited === lesson.id + name && html`<${Line} label=${say(label)} button=${say("page_save")} needed focused given=${text}
        onGiven=${(now) => change(lesson, patch(`lessons/${lesson.id}`, { text: now }))} />`)}
    </section>`)}
  </${Dialog}>`;
}

const KEYS = [
  ["page_enter", "page_ask"], ["page_shift_enter", "page_new_line"], ["page_escape", "page_stop_turn"], ["page_control_enter", "page_run_edited"],
  ["/", "page_to_question", true], ["n", "page_new_conversation", true], ["j, k", "page_next_turn", true], ["t", "page_conversations", true],
  ["s", "page_schema", true], ["d", "page_dark_or_light", true], ["?", "page_these_keys", true],
];

export function Help({ open, onClose, single, setSingle }) {
  return html`<${Dialog} title=${say("page_keys")} open=${open} onClose=${onClose}>
    <table class="keys"><tbody>${KEYS.map(([key, does, alone]) => html`<tr class=${alone && !single ? "off" : ""}><th scope="row"><kbd>${alone ? key : say(key)}</kbd></th><td>${say(does)}</td></tr>`)}</tbody></table>
    <label class="check"><input type="checkbox" checked=${single} onChange=${(event) => setSingle(event.target.checked)} /> ${say("page_single_keys")}</label>
  </${Dialog}>`;
}

/** Asks for the server's token, where it has one: instead of the page, or over it where a session has ended. */
export function SignIn({ onDone }) {
  return html`<main class="signin"><h1>tableturn</h1><${Token} onDone=${onDone} /></main>`;
}

export function SignInAgain({ open, onDone, onClose }) {
  return html`<${Dialog} title=${say("page_sign_in_again")} open=${open} onClose=${onClose}><p>${say("page_session_ended")}</p><${Token} onDone=${onDone} /></${Dialog}>`;
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
      <label>${say("page_token")}<input name="token" type="password" autocomplete="current-password" required /></label>
      <button class="main">${say("page_sign_in")}</button></form>
    ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
  </div>`;
}
