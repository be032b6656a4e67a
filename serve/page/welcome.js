// The first screen: the database, and questions worth asking of it.
import { html } from "./html.js";
import { readable, say } from "./labels.js";

export function Welcome({ me, schema, ask }) {
  return html`<div class="welcome">
    <h2>${say("page_ask_database", { database: me.database })}</h2>
    <p>${say("page_welcome")}</p>
    ${schema && html`<div class="buttons choices">${questions(schema, me.translator !== "offline").map((question) => html`<button onClick=${() => ask(question)}>${question}</button>`)}</div>`}
  </div>`;
}

const FEW = 50; // most rows of a table that others are counted by
const KINDS = 12; // most values of a column that rows are counted by
const MANY = 20; // fewest values of a column that is measured

/**
 * Questions that keys, dates and values suggest: how many over time, by what they belong to, by kind; an average; the newest.
 * @param months   whether whoever answers can be asked for months, which the offline translator cannot
 */
export function questions({ tables, foreign_keys: keys }, months) {
  const known = new Map(tables.map((table) => [table.name, table]));
  const largest = tables.filter(({ row_count: rows }) => rows > 0).sort((one, other) => other.row_count - one.row_count);
  const events = largest.filter(({ columns }) => columns.some(({ kind }) => kind === "time"));
  const refers = ({ name }, column) => keys.some(({ table, columns }) => table === name && columns.includes(column.name));
  const few = ({ ref_table: to }) => known.get(to)?.row_count > 2 && known.get(to).row_count <= FEW;
  const first = (those, found) => those.map((table) => found(table)).find(Boolean);
  // The name of a column is for one thing already; that of a table may be for many.
  const of = ({ table, columns: [key] }) => say("page_try_by", { things: readable(table), names: readable(key).replace(/ id$/, "") });
  const by = first([...events, ...largest], (table) => {
    const key = keys.find((one) => one.table === table.name && one.ref_table !== table.name && few(one));
    return key && of(key);
  });
  const kinds = first([...events, ...largest], (table) => {
    const column = table.columns.find((one) => one.kind === "text" && one.distinct > 1 && one.distinct <= KINDS && !refers(table, one) && !one.primary_key);
    return column && say("page_try_by", { things: readable(table.name), names: readable(column.name) });
  });
  const average = first([...events, ...largest], (table) => {
    const column = table.columns.find((one) => one.kind === "number" && one.distinct > MANY && !one.primary_key && !one.likely_key && !refers(table, one));
    return column && say("page_try_average", { measure: column.words, things: readable(table.name) });
  });
  const found = [
    months && events[0] && say("page_try_months", { things: readable(events[0].name) }), by, average, kinds,
    events[0] && say("page_try_newest", { things: readable(events[0].name) }), largest[0] && say("page_try_count", { things: readable(largest[0].name) }),
  ].filter(Boolean);
  return found.length > 0 ? [...new Set(found)].slice(0, 4) : [say("page_try_tables")];
}
