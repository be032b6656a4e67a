// How sure an answer is and why, what it rests on, and what was tried.
import { html } from "./html.js";
import { capital, number, readable, say } from "./labels.js";
import { Code } from "./sql.js";

/** What speaks against an answer, where anything does. */
export function Doubt({ answer: { confidence, confidence_reason: reason, trusted }, sureness }) {
  const [words, level] = !reason ? ["", ""] : confidence === 1 ? ["sure", "high"] : confidence >= sureness.fairly_sure ? ["fairly_sure", "middle"] : ["unsure", "low"];
  return (words || trusted !== null) && html`<p class="doubt">${words && html`<span class=${`meter ${level}`} aria-hidden="true"></span>${capital(say(words))}: ${reason} `}
    ${trusted === true && html`<span class="badge">${say("trusted")}</span>`}${trusted === false && html`<span class="badge">${say("not_trusted")}</span>`}</p>`;
}

/** What an answer rests on; the figure is for whoever compares answers. */
export function Why({ turn: { answer, dates, page } }) {
  const { confidence, trust_reason: trust, stop_kind: stopped, attempts, used_knowledge: known, truncated } = answer;
  const basis = answer.basis && { ...answer.basis, cut: truncated ? "" : answer.basis.cut }; // the table pages all rows
  const ended = stopped && stopped !== "gate" && `stopped_${stopped}`;
  return html`<details class="more why">
    <summary>${say("page_rests_on")}</summary>
    <ul>
      <li>${sentenceOf([say("page_queries_tried", { n: attempts.length }, page.marks), ended && say(ended)].filter(Boolean).join("; "))}</li>
      ${trust && html`<li>${sentenceOf(trust)}</li>`}
      ${basis && lines(basis, dates).map(([name, text]) => html`<li><b>${say(name)}:</b> ${text}</li>`)}
      ${known.map((entry) => html`<li><b>${say("page_definition_of", { name: entry.name })}:</b> ${entry.text || entry.sql}${entry.author && ` (${entry.author})`}</li>`)}
      <li class="quiet">${say("page_confidence", { figure: number(confidence, 2, page.marks) })}</li>
    </ul>
  </details>`;
}

export function Tried({ turn: { answer: { attempts, notes, usage, model, translator }, page } }) {
  const marks = page?.marks;
  return html`<details class="more"><summary>${say("page_tried")}${attempts.length > 1 && ` (${say("queries", { n: attempts.length })})`}</summary>
    <ol class="tried">${attempts.map((attempt) => html`<li>
      <${Code} text=${attempt.sql} />
      <p class=${attempt.error ? "problem" : "quiet"}>${attempt.error ?? say("rows", { n: attempt.row_count ?? 0 }, marks)}</p>
      ${attempt.feedback && !attempt.error && html`<p class="text">${attempt.feedback}</p>`}</li>`)}</ol>
    ${notes.length > 0 && html`<ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul>`}
    <p class="quiet">${[translator === "offline" ? say("page_offline") : model, usage.llm_calls > 0 && say("model_requests", { n: usage.llm_calls }, marks),
      usage.llm_calls > 0 && say("tokens", { n: usage.prompt_tokens + usage.completion_tokens }, marks), `${number(usage.seconds, 1, marks)} s`].filter(Boolean).join(" · ")}</p>
  </details>`;
}

const ORIGINS = {
  verified: "page_verified", definition: "page_from_definition", generated: "page_by_model", offline: "page_without_model", edited: "stopped_edited",
};

/** What an answer rests on: a name and a text for each thing that there is to say. */
function lines({ origin, tables, date, filters, grain, duplicates, nulls, ties, cut, definitions, assumed, readings, counted: rows }, dates) {
  return [
    ["page_query", ORIGINS[origin] && say(ORIGINS[origin])],
    ["page_tables", tables?.join(", ")],
    ["page_date", date?.used && when(date.column, dates)],
    ["page_only_where", conditions(filters?.filter(({ groups, part }) => !groups && !part))],
    ["page_only_groups", conditions(filters?.filter(({ groups, part }) => groups && !part))],
    ["page_in_parts", conditions(filters?.filter(({ part }) => part))],
    ["page_rows", [grain, duplicates === "removed" && say("page_no_duplicates")].filter(Boolean).join(", ")],
    ["page_missing", nulls?.join("; ")],
    ["page_shown", [cut, ties].filter(Boolean).join("; ")],
    ["page_definitions", definitions?.join(", ")],
    ["page_assumed", assumed?.join("; ")],
    ["page_counted", rows?.join("; ")],
    ["page_other_readings", readings],
  ].filter(([, text]) => text);
}

const conditions = (filters) => filters?.map(({ text, words }) => `${text} (${words ? say("page_from_words", { words }) : say("page_not_asked")})`).join("; ");

function when(column, { first, last, newest }) {
  const range = [first && say("page_since", { first }), last && say("page_until", { last })].filter(Boolean).join(" ");
  return [[column && readable(column), range].filter(Boolean).join(" "), newest && say("page_newest", { newest })].filter(Boolean).join("; ");
}

export const sentenceOf = (text) => (text ? `${capital(text)}.` : "");
