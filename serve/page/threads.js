// One's own conversations: open, rename, delete.
import { patch, remove } from "./api.js";
import { Dialog } from "./dialogs.js";
import { html, useState } from "./html.js";
import { Icon } from "./icons.js";

export const named = (thread) => thread.title || "New conversation";

/** @param threads  the conversations; `more` says whether there are others, and `load` gets them; `unlisted` why they are not of now */
export function Threads({ threads, unlisted, more, load, current, onDeleted, onChanged }) {
  const [renamed, setRenamed] = useState(null);
  const [deleted, setDeleted] = useState(null);
  const [problem, setProblem] = useState(null);
  const rename = async (event) => {
    event.preventDefault();
    await patch(`threads/${renamed.id}`, { title: event.target.elements.title.value.trim() }).then(onChanged, setProblem);
    setRenamed(null);
  };
  const destroy = async () => {
    const { id } = deleted;
    setDeleted(null);
    await remove(`threads/${id}`).then(() => onDeleted(id), setProblem);
  };
  return html`<nav aria-label="Earlier conversations">
    ${unlisted && html`<p class="quiet">This list may be out of date: ${unlisted.message}</p>`}
    ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
    <ul class="threads">${threads.map((thread) => html`<li key=${thread.id} class=${thread.id === current ? "current" : ""}>
      <a href=${`#${thread.id}`} aria-current=${thread.id === current ? "page" : null} title=${named(thread)}>${named(thread)}</a>
      <button class="bare" aria-label=${`Rename ${named(thread)}`} onClick=${() => setRenamed(thread)}><${Icon} name="pencil" /></button>
      <button class="bare" aria-label=${`Delete ${named(thread)}`} onClick=${() => setDeleted(thread)}><${Icon} name="bin" /></button>
    </li>`)}</ul>
    ${threads.length === 0 && html`<p class="quiet">Your conversations will be here.</p>`}
    ${more && html`<button class="link" onClick=${load}>Older conversations</button>`}
    <${Dialog} title="Rename the conversation" open=${renamed !== null} onClose=${() => setRenamed(null)}>
      <form class="line" onSubmit=${rename}><label>Name<input name="title" maxlength="200" required value=${renamed ? named(renamed) : ""} /></label>
        <button class="main">Rename</button></form>
    </${Dialog}>
    <${Dialog} title="Delete the conversation?" open=${deleted !== null} onClose=${() => setDeleted(null)}>
      <p class="text">${deleted ? named(deleted) : ""}</p>
      <p>Its questions and answers are deleted for good.</p>
      <div class="buttons"><button class="danger" onClick=${destroy}>Delete</button><button onClick=${() => setDeleted(null)}>Keep</button></div>
    </${Dialog}>
  </nav>`;
}
