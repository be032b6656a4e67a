// What there is to ask about: tables, their columns, keys and a few values.
import { breakable, html, useState } from "./html.js";
import { say, time } from "./labels.js";

/** @param onName  is given the name of a table or column that was picked */
export function Schema({ schema, problem, onName }) {
  const [search, setSearch] = useState("");
  if (problem) return html`<p class="problem" role="alert">${problem.message}</p>`;
  if (!schema) return html`<p class="quiet">${say("page_reading_schema")}</p>`;
  const wanted = search.toLowerCase();
  const has = (text) => text.toLowerCase().includes(wanted);
  const tables = schema.tables.filter((table) => has(table.name) || table.columns.some((column) => has(column.name)));
  return html`<div>
    <input type="search" aria-label=${say("page_find_tables")} placeholder=${say("page_find_tables")} value=${search} onInput=${(event) => setSearch(event.target.value)} />
    <div class="schema">${tables.map((table) => html`<details key=${table.name} open=${wanted !== "" || schema.tables.length === 1}>
      <summary><span class="name">${breakable(table.name)}</span>${table.kind !== "table" && html`<span class="badge">${say(table.kind === "view" ? "page_view" : "page_virtual")}</span>`}
        ${table.row_count !== null && html`<span class="quiet" title=${say("page_as_of", { time: time(new Date(schema.counted_at * 1000)) })}>${say("rows", { n: table.row_count })}</span>`}</summary>
      <button class="link" aria-label=${say("page_put_name", { name: table.name })} onClick=${() => onName(table.name)}>${say("page_put")}</button>
      ${table.comment && html`<p class="quiet">${table.comment}</p>`}
      <ul>${table.columns.map((column) => html`<li><${Column} column=${column} goes=${reference(schema, table, column)} onName=${onName} /></li>`)}</ul>
    </details>`)}</div>
    ${schema.notices.length > 0 && html`<details class="notices" open>
      <summary>${say("page_noticed")} <span class="quiet">${schema.notices.length}</span></summary>
      <ul>${schema.notices.map((notice) => html`<li><span class="name">${breakable([notice.table, notice.column].filter(Boolean).join("."))}</span> ${notice.text}
        ${notice.example && html`<span class="quiet"> ${say("page_example", { example: notice.example })}</span>`}
        ${notice.turned_by && html`<div class="quiet">${say("page_otherwise", { done: notice.turned_by })}</div>`}</li>`)}</ul>
    </details>`}
    ${tables.length === 0 && html`<p class="quiet">${say("page_no_name")}</p>`}
  </div>`;
}

function Column({ column, goes, onName }) {
  const samples = column.samples.slice(0, 3).map(String).filter((sample) => sample.length <= 40).join(", ");
  return html`<button class="bare name" title=${say("page_put")} onClick=${() => onName(column.name)}>${breakable(column.name)}</button>
    <span class="quiet">${column.type.toLowerCase()}</span>
    ${column.primary_key > 0 && html`<span class="badge">${say("page_key")}</span>`}
    ${goes && html`<span class="quiet goes">→ ${breakable(goes)}</span>`}
    ${(column.comment || samples) && html`<div class="quiet samples">${column.comment || samples}</div>`}`;
}

function reference(schema, table, column) {
  const key = schema.foreign_keys.find((each) => each.table === table.name && each.columns.includes(column.name));
  return key ? `${key.ref_table}${key.inferred ? ` ${say("page_likely")}` : ""}` : "";
}
