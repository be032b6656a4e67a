// One's own conversations: open, rename, delete.
import { patch, remove } from "./api.js";
import { Dialog } from "./dialogs.js";
import { html, useRef, useState } from "./html.js";
import { Icon } from "./icons.js";

export const named = (thread) => thread.title || "New conversation";

/**
 * @param threads  the conversations; `more` says whether there are others, and `load` gets them; `unlisted` why they are not of now
 * @param find     lists those alone whose names have a text
 */
export function Threads({ threads, unlisted, more, load, find, current, onDeleted, onChanged }) {
  const [renamed, setRenamed] = useState(null);
  const [deleted, setDeleted] = useState(null);
  const [problem, setProblem] = useState(null);
  const rename = async (event) => {
    event.preventDefault();
    const title = event.target.elements.title.value.trim();
    await patch(`threads/${renamed.id}`, { title }).then(() => (onChanged(), setProblem(null), setRenamed(null)), setProblem);
  };
  const destroy = async () => {
    const { id } = deleted;
    setDeleted(null);
    await remove(`threads/${id}`).then(() => onDeleted(id), setProblem);
  };
  const [search, setSearch] = useState("");
  const timer = useRef(null);
  const look = (text) => {
    setSearch(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => find(text.trim()), 250);
  };
  return html`<nav aria-label="Earlier conversations">
    ${(threads.length > 0 || search) && html`<input type="search" aria-label="Find conversations" placeholder="Find conversations" maxlength="200" value=${search} onInput=${(event) => look(event.target.value)} />`}
    ${unlisted && html`<p class="quiet">This list may be out of date: ${unlisted.message}</p>`}
    ${problem && !renamed && html`<p class="problem" role="alert">${problem.message}</p>`}
    ${byDay(threads).map(([day, those]) => html`<section key=${day}><h2 class="day">${day}</h2>
    <ul class="threads">${those.map((thread) => html`<li key=${thread.id} class=${thread.id === current ? "current" : ""}>
      <a href=${`#${thread.id}`} aria-current=${thread.id === current ? "page" : null} title=${named(thread)}>${named(thread)}</a>
      <button class="bare" aria-label=${`Rename ${named(thread)}`} onClick=${() => (setProblem(null), setRenamed(thread))}><${Icon} name="pencil" /></button>
      <button class="bare" aria-label=${`Delete ${named(thread)}`} onClick=${() => setDeleted(thread)}><${Icon} name="bin" /></button>
    </li>`)}</ul></section>`)}
    ${threads.length === 0 && html`<p class="quiet">${search ? "No conversation has that in its name." : "Your conversations will be here."}</p>`}
    ${more && html`<button class="link" onClick=${load}>Older conversations</button>`}
    <${Dialog} title="Rename the conversation" open=${renamed !== null} onClose=${() => setRenamed(null)}>
      <form class="line" onSubmit=${rename}><label>Name<input name="title" maxlength="200" required value=${renamed ? named(renamed) : ""} /></label>
        <button class="main">Rename</button></form>
      ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
    </${Dialog}>
    <${Dialog} title="Delete the conversation?" open=${deleted !== null} onClose=${() => setDeleted(null)}>
      <p class="text">${deleted ? named(deleted) : ""}</p>
      <p>Its questions and answers are deleted for good.</p>
      <div class="buttons"><button class="danger" onClick=${destroy}>Delete</button><button onClick=${() => setDeleted(null)}>Keep</button></div>
    </${Dialog}>
  </nav>`;
}

/** The conversations under the day on which they were last used. */
function byDay(threads) {
  const days = new Map();
  for (const thread of threads) {
    const day = dayOf(new Date(thread.changed * 1000));
    days.set(day, [...(days.get(day) ?? []), thread]);
  }
  return [...days];
}

function dayOf(date) {
  const midnight = (moment) => new Date(moment).setHours(0, 0, 0, 0);
  const ago = Math.round((midnight(Date.now()) - midnight(date)) / 86_400_000);
  if (ago < 2) return ago < 1 ? "Today" : "Yesterday";
  return date.toLocaleDateString("en", ago < 7 ? { weekday: "long" } : { day: "numeric", month: "long", year: "numeric" });
}
