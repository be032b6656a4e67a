// One turn: the question, how it is coming along, and its answer with all that can be done with it.
import { Chart } from "./chart.js";
import { parted } from "./conversation.js";
import { Feedback } from "./feedback.js";
import { html, useState } from "./html.js";
import { post } from "./api.js";
import { Code, Editor } from "./sql.js";
import { Table } from "./table.js";
import { Tried, Why } from "./why.js";

/**
 * @param turn    what the API gives for it
 * @param last    whether it is the last one, to which a reply can be given
 * @param tools   what a conversation can do (conversation.js), and `theme`
 */
export function Turn({ turn, last, tools }) {
  return html`<article class="turn" id=${`turn-${turn.id}`} tabindex="-1" aria-label=${turn.question.slice(0, 80)}>
    <h2 class="question" dir="auto">${turn.question}</h2>
    ${turn.status === "running" ? html`<${Progress} live=${turn.live} />`
      : turn.answer ? html`<${Answer} turn=${turn} last=${last} tools=${tools} />`
      : html`<${NoAnswer} turn=${turn} last=${last} tools=${tools} />`}
  </article>`;
}

function Progress({ live }) {
  return html`<div class="progress">
    <p class="phase"><span class="dots" aria-hidden="true"></span>${live.phase}…</p>
    ${live.tables.length > 0 && html`<p class="quiet">Tables: ${first(live.tables)}</p>`}
    ${live.sql && html`<${Code} text=${live.sql} writing />`}
    ${live.runs.map((run) => html`<p class=${run.error ? "problem" : "quiet"}>${run.error ?? rows(run.row_count)}</p>`)}
    ${live.notes.map((note) => html`<p class="quiet">${note}</p>`)}
  </div>`;
}

function NoAnswer({ turn, last, tools }) {
  const what = { stopped: "Stopped.", lost: "This turn was lost: the process that took it is gone." }[turn.status];
  return html`<div>
    <p class=${turn.status === "stopped" ? "quiet" : "problem"} role=${last ? "alert" : null}>${what ?? turn.error?.message ?? "There is no answer."}</p>
    ${!tools.running && html`<${Again} turn=${turn} tools=${tools} />`}
  </div>`;
}

/** Asks a question again: of a decision on a query, the question that the query was written for. */
function Again({ turn, tools }) {
  const place = tools.turns.findIndex(({ id }) => id === turn.id);
  const waited = tools.turns[place - 1]?.answer;
  const { question } = waited?.status === "needs_clarification" && waited.sql ? tools.turns[place - 1] : turn;
  const gone = turn.error?.kind === "NotThere";
  return html`<button onClick=${() => tools.ask(question, gone)}>${gone ? "Ask in a new conversation" : "Ask again"}</button>`;
}

function Answer({ turn, last, tools }) {
  const { answer } = turn;
  if (answer.status === "needs_clarification") return html`<${Asked} turn=${turn} open=${last && !tools.running} tools=${tools} />`;
  return html`<div>
    ${answer.stop_kind === "edited" && html`<p class="badge">Your query</p>`}
    <p dir="auto" class=${answer.status === "failed" && answer.stop_kind !== "declined" ? "text problem" : "text"}>${answer.text}</p>
    ${answer.status === "failed" && !tools.running && html`<${Again} turn=${turn} tools=${tools} />`}
    ${answer.answered && html`<${Why} answer=${answer} sureness=${tools.sureness} />`}
    ${answer.answered && answer.columns.length > 0 && html`<${Result} turn=${turn} theme=${tools.theme} />`}
    ${answer.sql && html`<${Query} turn=${turn} tools=${tools} />`}
    ${answer.answered && answer.explanation && html`<details class="more" open><summary>What the query means</summary><p class="text">${answer.explanation}</p></details>`}
    <${Tried} answer=${answer} />
    <${Feedback} turn=${turn} tools=${tools} />
  </div>`;
}

function Result({ turn, theme }) {
  const [tab, setTab] = useState(turn.answer.chart ? "chart" : "table");
  const Tab = ({ name, label }) => html`<button role="tab" id=${`${name}-tab-${turn.id}`} aria-selected=${String(tab === name)}
    aria-controls=${`result-${turn.id}`} tabindex=${tab === name ? 0 : -1} onClick=${() => setTab(name)}>${label}</button>`;
  const onKeyDown = (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const other = tab === "table" ? "chart" : "table";
    setTab(other);
    document.getElementById(`${other}-tab-${turn.id}`).focus();
  };
  return html`<section aria-label="Result">
    <div role="tablist" class="tabs" aria-label="How the result is shown" onKeyDown=${onKeyDown}>
      <${Tab} name="table" label="Table" /><${Tab} name="chart" label="Chart" />
    </div>
    <div role="tabpanel" id=${`result-${turn.id}`} aria-labelledby=${`${tab}-tab-${turn.id}`}>
      ${tab === "table" ? html`<${Table} turn=${turn} />` : html`<${Chart} turn=${turn} theme=${theme} />`}
    </div>
  </section>`;
}

function Query({ turn, tools }) {
  const [editing, setEditing] = useState(false);
  const [problem, setProblem] = useState(null);
  const run = (sql) => post(`turns/${turn.id}/run`, { sql }).then((done) => {
    setEditing(false);
    setProblem(null);
    tools.add(done);
  }, setProblem);
  return html`<details class="more" open>
    <summary>SQL</summary>
    ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
    ${editing
      ? html`<${Editor} text=${turn.answer.sql} label="The query" actions=${[["Run", run]]} onCancel=${() => setEditing(false)} />`
      : html`<${Code} text=${turn.answer.sql} /><div class="buttons">
          <button class="link" onClick=${() => setEditing(true)}>Edit and run</button>
          <${Copy} text=${turn.answer.sql} /></div>`}
  </details>`;
}

function Copy({ text }) {
  const [told, setTold] = useState("Copy");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text); // which there is over https and on this machine alone
      setTold("Copied");
    } catch {
      setTold("Your browser copies over https alone: select the text, and copy it with the keyboard");
    }
  };
  return html`<button class="link" onClick=${copy}>${told}</button>`;
}

/** A turn that asks back: which reading is meant, or whether a query may run. */
function Asked({ turn, open, tools }) {
  const { answer } = turn;
  const [editing, setEditing] = useState(false);
  const { question, choices } = parted(answer.text);
  if (!answer.sql) {
    return html`<div class="asked"><p class="text">${question}</p>
      <div class="buttons choices">${choices.map((choice) => html`<button disabled=${!open} onClick=${() => tools.ask(choice)}>${choice}</button>`)}</div>
      ${open && html`<p class="quiet">Or write your reply below.</p>`}</div>`;
  }
  const decide = (decision) => tools.ask(decision);
  return html`<div class="asked"><p class="text">${question}</p>
    ${editing
      ? html`<${Editor} text=${answer.sql} label="The query" actions=${[["Run this instead", (sql) => decide({ action: "edit", sql })]]} onCancel=${() => setEditing(false)} />`
      : html`<${Code} text=${answer.sql} />`}
    ${answer.explanation && html`<p class="text">${answer.explanation}</p>`}
    ${answer.estimate && html`<p class="quiet">Expected to read ${rows(answer.estimate.rows)}.</p>`}
    ${open && !editing && html`<div class="buttons">
      <button class="main" onClick=${() => decide({ action: "approve" })}>Run it</button>
      ${choices.includes("approve and save") && html`<button onClick=${() => decide({ action: "approve", save: true })}>Run it and save as an example</button>`}
      <button onClick=${() => setEditing(true)}>Edit</button>
      <button onClick=${() => decide({ action: "reject" })}>Don't run</button>
    </div>`}
  </div>`;
}

const TABLES = 6;
const first = (names) => names.slice(0, TABLES).join(", ") + (names.length > TABLES ? ` and ${names.length - TABLES} more` : "");
const rows = (count) => (count === 1 ? "1 row" : `${(count ?? 0).toLocaleString("en")} rows`);
