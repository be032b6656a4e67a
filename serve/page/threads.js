// One's own conversations: open, rename, delete.
import { patch, remove } from "./api.js";
import { Dialog } from "./dialogs.js";
import { html, useRef, useState } from "./html.js";
import { Icon } from "./icons.js";
import { date, say } from "./labels.js";

export const named = (thread) => thread.title || say("page_new_conversation");

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
  const destroy = ({ id }) => {
    setDeleted(null);
    remove(`threads/${id}`).then(() => onDeleted(id), setProblem);
  };
  const [search, setSearch] = useState("");
  const timer = useRef(null);
  const look = (text) => {
    setSearch(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => find(text.trim()), 250);
  };
  return html`<nav aria-label=${say("page_earlier")}>
    ${(threads.length > 0 || search) && html`<input type="search" aria-label=${say("page_find")} placeholder=${say("page_find")} maxlength="200" value=${search} onInput=${(event) => look(event.target.value)} />`}
    ${unlisted && html`<p class="quiet">${say("page_unlisted", { why: unlisted.message })}</p>`}
    ${problem && !renamed && html`<p class="problem" role="alert">${problem.message}</p>`}
    ${byDay(threads).map(([day, those]) => html`<section key=${day}><h2 class="day">${day}</h2>
    <ul class="threads">${those.map((thread) => html`<li key=${thread.id} class=${thread.id === current ? "current" : ""}>
      <a href=${`#${thread.id}`} aria-current=${thread.id === current ? "page" : null} title=${named(thread)}>${named(thread)}</a>
      <button class="bare" aria-label=${say("page_rename_name", { name: named(thread) })} onClick=${() => (setProblem(null), setRenamed(thread))}><${Icon} name="pencil" /></button>
      <button class="bare" aria-label=${say("page_delete_name", { name: named(thread) })} onClick=${() => setDeleted(thread)}><${Icon} name="bin" /></button>
    </li>`)}</ul></section>`)}
    ${threads.length === 0 && html`<p class="quiet">${say(search ? "page_not_found" : "page_none_yet")}</p>`}
    ${more && html`<button class="link" onClick=${load}>${say("page_older")}</button>`}
    <${Dialog} title=${say("page_rename_this")} open=${renamed !== null} onClose=${() => setRenamed(null)}>
      <form class="line" onSubmit=${rename}><label>${say("page_name")}<input name="title" maxlength="200" required value=${renamed ? named(renamed) : ""} /></label>
        <button class="main">${say("page_rename")}</button></form>
      ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
    </${Dialog}>
    <${Dialog} title=${say("page_delete_this")} open=${deleted !== null} onClose=${() => setDeleted(null)}>
      <p class="text">${deleted ? named(deleted) : ""}</p>
      <p>${say("page_for_good")}</p>
      <div class="buttons"><button class="danger" onClick=${() => destroy(deleted)}>${say("page_delete")}</button><button onClick=${() => setDeleted(null)}>${say("page_keep")}</button></div>
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

function dayOf(moment) {
  const midnight = (time) => new Date(time).setHours(0, 0, 0, 0);
  const ago = Math.round((midnight(Date.now()) - midnight(moment)) / 86_400_000);
  if (ago < 2) return say(ago < 1 ? "page_today" : "page_yesterday");
  return date(moment, ago < 7 ? { weekday: "long" } : { day: "numeric", month: "long", year: "numeric" });
}
