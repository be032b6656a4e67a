// SQL: highlighted, and edited.
import { html, useLayoutEffect, useRef, useState } from "./html.js";
import { say } from "./labels.js";
import hljs from "./vendor/highlight.js";
import sql from "./vendor/sql.js";

hljs.registerLanguage("sql", sql);

/** Highlighted SQL. The highlighter's tree is drawn node by node, so that no string becomes HTML. */
export function Code({ text, writing = false }) {
  const { rootNode } = hljs.highlight(text, { language: "sql", ignoreIllegals: true })._emitter;
  return html`<pre class=${writing ? "sql writing" : "sql"} tabindex="0" role="group" aria-label="SQL"><code>${rootNode.children.map(drawn)}</code></pre>`;
}

const drawn = (node) =>
  typeof node === "string" ? node : html`<span class=${`sql-${node.scope}`}>${node.children.map(drawn)}</span>`;

/**
 * A query to edit.
 * @param actions   pairs of a label and what it does with the text; the first is what Ctrl+Enter does
 */
export function Editor({ text, label, actions, onCancel }) {
  const [now, setNow] = useState(text);
  const [waits, setWaits] = useState(false);
  const area = useRef(null);
  useLayoutEffect(() => area.current.focus(), []); // before the browser takes another key
  const act = async (does) => {
    setWaits(true);
    await does(area.current.value); // which may be newer than what is drawn
    setWaits(false);
  };
  const onKeyDown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) act(actions[0][1]);
    if (event.key === "Escape") onCancel();
  };
  return html`<div class="editor">
    <textarea aria-label=${label} spellcheck=${false} autocapitalize="off" rows=${Math.min(now.split("\n").length + 1, 20)}
      ref=${area} value=${now} onInput=${(event) => setNow(event.target.value)} onKeyDown=${onKeyDown}></textarea>
    <div class="buttons">
      ${actions.map(([name, does], place) => html`<button class=${place ? "" : "main"} disabled=${waits || !now.trim()} onClick=${() => act(does)}>${name}</button>`)}
      <button onClick=${onCancel}>${say("page_cancel")}</button>
    </div>
  </div>`;
}
