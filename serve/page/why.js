// How sure an answer is and why, what it rests on, and what was tried.
import { html } from "./html.js";
import { Code } from "./sql.js";

const STOPPED = {
  gate: "", same_sql: "another attempt gave the same query", same_result: "another attempt gave the same result",
  cycle: "attempts began to repeat", attempts: "no further attempts were allowed", budget: "no further requests were allowed",
  edited: "a person wrote the query", declined: "a person declined", error: "something failed",
};

/** What speaks against an answer, where anything does. */
export function Doubt({ answer: { confidence, confidence_reason: reason, trusted }, sureness }) {
  const [words, level] = !reason ? ["", ""] : confidence === 1 ? ["Sure", "high"] : confidence >= sureness.fairly_sure ? ["Fairly sure", "middle"] : ["Unsure", "low"];
  return (words || trusted !== null) && html`<p class="doubt">${words && html`<span class=${`meter ${level}`} aria-hidden="true"></span>${words}: ${reason} `}
    ${trusted === true && html`<span class="badge">✓ trusted</span>`}${trusted === false && html`<span class="badge">not trusted</span>`}</p>`;
}

/** What an answer rests on; the figure is for whoever compares answers. */
export function Why({ answer }) {
  const { confidence, trust_reason: trust, stop_kind: stopped, attempts, used_knowledge: known, basis } = answer;
  return html`<details class="more why">
    <summary>What it rests on</summary>
    <ul>
      <li>${sentence([`${counted(attempts.length, "query", "queries")} tried`, STOPPED[stopped] ?? "it converged"].filter(Boolean).join("; "))}
        <span class="quiet"> (confidence ${confidence.toFixed(2)})</span></li>
      ${trust && html`<li>${sentence(trust)}</li>`}
      ${basis && lines(basis).map(([name, text]) => html`<li><b>${name}:</b> ${text}</li>`)}
      ${known.map((entry) => html`<li><b>Definition of ${entry.name}:</b> ${entry.text || entry.sql}${entry.author && ` (${entry.author})`}</li>`)}
    </ul>
  </details>`;
}

export function Tried({ answer: { attempts, notes, usage, model, translator } }) {
  return html`<details class="more"><summary>What was tried${attempts.length > 1 ? ` (${attempts.length} queries)` : ""}</summary>
    <ol class="tried">${attempts.map((attempt) => html`<li>
      <${Code} text=${attempt.sql} />
      <p class=${attempt.error ? "problem" : "quiet"}>${attempt.error ?? counted(attempt.row_count ?? 0, "row", "rows")}</p>
      ${attempt.feedback && html`<p class="text">${attempt.feedback}</p>`}</li>`)}</ol>
    ${notes.length > 0 && html`<ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul>`}
    <p class="quiet">${[translator === "offline" ? "offline translator" : model, usage.llm_calls > 0 && counted(usage.llm_calls, "request", "requests"),
      usage.llm_calls > 0 && `${(usage.prompt_tokens + usage.completion_tokens).toLocaleString()} tokens`, `${usage.seconds.toFixed(1)} s`].filter(Boolean).join(" · ")}</p>
  </details>`;
}

const ORIGINS = {
  verified: "verified by a person", definition: "from a definition", generated: "written by the model", offline: "written without a model", edited: "edited by a person",
};

/** What an answer rests on: a name and a text for each thing that there is to say. */
function lines({ origin, tables, date, filters, grain, duplicates, nulls, ties, cut, definitions, assumed, readings, counted: rows }) {
  return [
    ["Query", ORIGINS[origin]],
    ["Tables", tables?.join(", ")],
    ["Date", date?.used && when(date)],
    ["Only where", conditions(filters?.filter(({ groups, part }) => !groups && !part))],
    ["Only groups where", conditions(filters?.filter(({ groups, part }) => groups && !part))],
    ["In parts only where", conditions(filters?.filter(({ part }) => part))],
    ["Rows", [grain, duplicates === "removed" && "duplicates removed"].filter(Boolean).join(", ")],
    ["Missing values", nulls?.join("; ")],
    ["Shown", [cut, ties].filter(Boolean).join("; ")],
    ["Definitions", definitions?.join(", ")],
    ["Assumed", assumed?.join("; ")],
    ["Counted", rows?.join("; ")],
    ["Other readings", readings],
  ].filter(([, text]) => text);
}

const conditions = (filters) => filters?.map(({ text, words }) => `${text} (${words ? `from “${words}”` : "not in the question"})`).join("; ");

function when({ column, first, last, newest }) {
  const range = [first && `from ${first}`, last && `to ${last}`].filter(Boolean).join(" ");
  return [[column, range].filter(Boolean).join(" "), newest && `newest ${newest}`].filter(Boolean).join("; ");
}

const counted = (count, one, many) => `${count.toLocaleString()} ${count === 1 ? one : many}`;
const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) + "." : "");
