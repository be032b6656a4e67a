// One turn: the question, how it is coming along, and its answer with all that can be done with it.
import { Chart } from "./chart.js";
import { parted } from "./conversation.js";
import { Feedback } from "./feedback.js";
import { html, useEffect, useState } from "./html.js";
import { getChart, post } from "./api.js";
import { say } from "./labels.js";
import { around, isMeasure, parts, shape } from "./shape.js";
import { Code, Editor } from "./sql.js";
import { Table } from "./table.js";
import { Doubt, sentenceOf, Tried, Why } from "./why.js";

/**
 * @param turn    what the API gives for it
 * @param last    whether it is the last one, to which a reply can be given
 * @param tools   what a conversation can do (conversation.js), and `theme`
 */
export function Turn({ turn, last, tools }) {
  return html`<article class="turn" id=${`turn-${turn.id}`} tabindex="-1" aria-label=${turn.question.slice(0, 80)}>
    <h2 class="question" dir="auto">${DECIDED[decides(turn, tools)] ? say(DECIDED[turn.question]) : turn.question}</h2>
    ${turn.status === "running" && !turn.early ? html`<${Progress} turn=${turn} />`
      : turn.answer ? html`<${Answer} turn=${turn} last=${last} tools=${tools} />`
      : html`<${NoAnswer} turn=${turn} last=${last} tools=${tools} />`}
  </article>`;
}

function Progress({ turn: { live, begun } }) {
  return html`<div class="progress">
    <p class="phase"><span class="dots" aria-hidden="true"></span>${say(live.phase)}… <${Elapsed} since=${begun} /></p>
    ${live.tables.length > 0 && html`<p class="quiet">${say("page_tables")}: ${first(live.tables)}</p>`}
    ${live.sql && html`<${Code} text=${live.sql} writing />`}
    ${live.runs.map((run) => html`<p class="quiet">${run.error ? say("page_query_failed") : say("rows", { n: run.row_count ?? 0 })}</p>`)}
    ${live.notes.map((note) => html`<p class="quiet">${note}</p>`)}
  </div>`;
}

/** The seconds since a moment, once there are some; they are for the eye alone. */
function Elapsed({ since }) {
  const [now, setNow] = useState(Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.round(now - since);
  const text = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return seconds > 0 && html`<span class="quiet elapsed" aria-hidden="true">${text}</span>`;
}

function NoAnswer({ turn, last, tools }) {
  const what = { stopped: "page_stopped", lost: "page_lost" }[turn.status];
  return html`<div>
    <p class=${turn.status === "stopped" ? "quiet" : "problem"} role=${last ? "alert" : null}>${what ? say(what) : turn.error?.message ?? say("page_no_answer")}</p>
    ${!tools.running && (last && turn.error?.kind !== "NotThere"
      ? html`<button onClick=${() => tools.again(turn)}>${say("page_again")}</button>` : html`<${Again} turn=${turn} tools=${tools} />`)}
  </div>`;
}

const DECIDED = { approve: "page_run_it", reject: "page_dont_run" };
const next = (turn, tools, by) => tools.turns[tools.turns.findIndex(({ id }) => id === turn.id) + by];

/** What was decided on the query that waited in the turn before: an action or another query; empty where it was left. */
function decides(turn, tools) {
  const waited = next(turn, tools, -1)?.answer;
  if (waited?.status !== "needs_clarification" || !waited.sql) return "";
  const given = turn.answer ? turn.answer.question === waited.question && turn.question !== waited.question : turn.asked?.action || turn.question in DECIDED;
  return given ? turn.question : "";
}

/** Asks a question again: of a decision on a query, the question that the query was written for. */
function Again({ turn, tools }) {
  const { question } = decides(turn, tools) ? next(turn, tools, -1) : turn;
  const gone = turn.error?.kind === "NotThere";
  return html`<button onClick=${() => tools.ask(question, gone)}>${say(gone ? "page_ask_anew" : "page_again")}</button>`;
}

function Answer({ turn, last, tools }) {
  const { answer } = turn;
  if (answer.status === "needs_clarification") return html`<${Asked} turn=${turn} open=${last && !tools.running} tools=${tools} />`;
  if (answer.intent === "small_talk") return html`<div class="talk"><p class="text" dir="auto">${answer.text}</p></div>`;
  const refused = refusal(answer);
  const { sentence, rest } = answer.answered ? parts(answer) : { sentence: refused ? say("page_query_failed") : answer.text, rest: "" };
  const best = answer.answered && answer.columns.length > 0 && shape(answer);
  const cell = best === "figure" && turn.page.texts[0][0];
  const figured = cell && around(sentence, cell); // the number is said once, and large
  const counting = turn.status === "running"; // the server has no more of the turn yet than this
  const looks = !answer.answered ? (answer.status === "failed" && answer.stop_kind !== "declined" ? "problem" : "") : "lead";
  return html`<div>
    ${answer.stop_kind === "edited" && html`<p class="badge">${say("page_your_query")}</p>`}
    <p dir="auto" class=${`text ${looks}`}>${figured ? html`${figured[0]}<span class="figure">${cell}</span>${figured[1]}` : sentence}</p>
    ${refused && html`<p class="quiet" dir="auto">${say("page_database_says", { why: refused })}</p>`}
    <div class=${turn.early ? "told early" : "told"}>
      ${rest && html`<p class="text" dir="auto">${rest} <${WithThem} turn=${turn} tools=${tools} /></p>`}
      ${answer.answered && html`<${Doubt} answer=${answer} sureness=${tools.sureness} />`}
      ${counting && html`<p class="quiet">${say("page_counting")}</p>`}
    </div>
    ${answer.status === "failed" && !tools.running && html`<${Again} turn=${turn} tools=${tools} />`}
    ${best && !figured && !(counting && (answer.truncated || best === "chart")) && html`<${Result} turn=${turn} theme=${tools.theme} />`}
    ${!counting && html`<div class="folded">
      ${answer.answered && html`<${Why} turn=${turn} />`}
      ${answer.sql && html`<${Query} turn=${turn} tools=${tools} mend=${last && answer.status === "failed" && answer.stop_kind === "edited"} />`}
      <${Tried} turn=${turn} />
    </div>
    <${Feedback} turn=${turn} tools=${tools} />`}
  </div>`;
}

/** What the database said of a person's own query that failed, where the answer's text is little more than that. */
function refusal({ status, stop_kind: stopped, text, attempts }) {
  const errors = status === "failed" && stopped === "edited" ? attempts.map(({ error }) => error).filter(Boolean) : [];
  return errors.findLast((error) => error !== text && text.endsWith(error)) ?? "";
}

/** Runs the query with the rows that the answer's own leaves out. */
function WithThem({ turn, tools }) {
  const [problem, setProblem] = useState(null);
  const sql = turn.answer.ledger?.other_sql;
  const run = () => post(`turns/${turn.id}/run`, { sql }).then(tools.add, setProblem);
  return sql && html`<button class="link" onClick=${run}>${say("page_count_too")}</button>${problem && html`<span class="problem" role="alert">${problem.message}</span>`}`;
}

function Result({ turn, theme }) {
  const { answer } = turn;
  const best = shape(answer);
  const [tab, setTab] = useState(best);
  const [chart, setChart] = useState(undefined);
  const drawable = turn.status !== "running" && (answer.chart || (answer.row_count > 1 && answer.formats.some(isMeasure)));
  useEffect(() => {
    let gone = false;
    if (drawable) getChart(`turns/${turn.id}/chart`).catch(() => null).then((found) => gone || setChart(found));
    return () => void (gone = true);
  }, [Boolean(drawable)]);
  if (best === "figure") {
    return html`<section><p class="figure" dir="auto">${turn.page.texts[0][0]}</p>
      <p class="quiet" dir="auto">${answer.headings[0]}</p></section>`;
  }
  const offered = chart !== null && (chart || best === "chart");
  const open = offered ? tab : "table";
  const names = best === "chart" ? ["chart", "table"] : ["table", "chart"];
  const drawTab = (name) => html`<button role="tab" id=${`${name}-tab-${turn.id}`} aria-selected=${String(open === name)}
    aria-controls=${`result-${turn.id}`} tabindex=${open === name ? 0 : -1} onClick=${() => setTab(name)}>${say(name === "chart" ? "page_chart" : "page_table")}</button>`;
  const onKeyDown = (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const other = open === "table" ? "chart" : "table";
    setTab(other);
    document.getElementById(`${other}-tab-${turn.id}`).focus();
  };
  return html`<section>
    ${offered && html`<div role="tablist" class="tabs" aria-label=${say("page_how_shown")} onKeyDown=${onKeyDown}>
      ${names.map(drawTab)}
    </div>`}
    <div role=${offered ? "tabpanel" : null} id=${`result-${turn.id}`} aria-labelledby=${offered ? `${open}-tab-${turn.id}` : null}>
      ${open === "table" ? html`<${Table} turn=${turn} />` : html`<${Chart} turn=${turn} theme=${theme} automatic=${chart} />`}
    </div>
  </section>`;
}

/** @param mend  whether it is a query of a person's own that failed, which they will want to edit */
function Query({ turn, tools, mend }) {
  const [editing, setEditing] = useState(mend);
  const [problem, setProblem] = useState(null);
  const run = (sql) => post(`turns/${turn.id}/run`, { sql }).then((done) => {
    setEditing(false);
    setProblem(null);
    tools.add(done);
  }, setProblem);
  return html`<details class="more" open=${mend}>
    <summary>SQL</summary>
    ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
    ${editing
      ? html`<${Editor} text=${turn.answer.sql} label=${say("page_the_query")} actions=${[[say("page_run"), run]]} onCancel=${() => setEditing(false)} />`
      : html`<${Code} text=${turn.answer.sql} /><div class="buttons">
          <button class="link" onClick=${() => setEditing(true)}>${say("page_edit")}</button>
          <${Copy} text=${turn.answer.sql} /></div>`}
    ${turn.answer.explanation && html`<p class="text">${turn.answer.explanation}</p>`}
  </details>`;
}

function Copy({ text }) {
  const [told, setTold] = useState("page_copy");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text); // which there is over https and on this machine alone
      setTold("page_copied");
    } catch {
      setTold("page_copy_by_hand");
    }
  };
  return html`<button class="link" onClick=${copy}>${say(told)}</button>`;
}

/** A turn that asks back: which reading is meant, or whether a query may run. */
function Asked({ turn, open, tools }) {
  const { answer } = turn;
  const [editing, setEditing] = useState(false);
  const { question, choices } = parted(answer.text);
  if (!answer.sql) {
    return html`<div class="asked"><p class="text">${question}</p>
      <div class="buttons choices">${choices.map((choice) => html`<button disabled=${!open} onClick=${() => tools.ask(choice)}>${choice}</button>`)}</div>
      ${open && html`<p class="quiet">${say("page_reply_below")}</p>`}</div>`;
  }
  const decide = (decision) => tools.ask(decision);
  const after = next(turn, tools, 1);
  return html`<div class="asked"><p class="text">${after && !decides(after, tools) ? say("page_left_waiting") : question}</p>
    ${editing && open
      ? html`<${Editor} text=${answer.sql} label=${say("page_the_query")} actions=${[[say("page_run_instead"), (sql) => decide({ action: "edit", sql })]]} onCancel=${() => setEditing(false)} />`
      : html`<${Code} text=${answer.sql} />`}
    ${answer.explanation && html`<p class="text">${answer.explanation}</p>`}
    ${answer.estimate && html`<p class="quiet">${sentenceOf(say("expected", { rows: say("rows", { n: answer.estimate.rows ?? 0 }) }))}</p>`}
    ${open && !editing && html`<div class="buttons">
      <button class="main" onClick=${() => decide({ action: "approve" })}>${say("page_run_it")}</button>
      ${choices.includes("approve and save") && html`<button onClick=${() => decide({ action: "approve", save: true })}>${say("page_run_save")}</button>`}
      <button onClick=${() => setEditing(true)}>${say("page_change")}</button>
      <button onClick=${() => decide({ action: "reject" })}>${say("page_dont_run")}</button>
    </div>`}
  </div>`;
}

const TABLES = 6;
const first = (names) => {
  const shown = names.slice(0, TABLES).join(", ");
  return names.length > TABLES ? say("page_and_more", { names: shown, n: names.length - TABLES }) : shown;
};
