// One conversation: its turns, and what becomes of a turn while events come.
// A turn is what the API gives for it, and while it runs has `live`: what has been told of it so far.
import { events, get, post } from "./api.js";
import { useEffect, useRef, useState } from "./html.js";
import { say } from "./labels.js";

const SHOWN_ROWS = 25;
const EARLY_MS = 150; // within which an answer's rows are mostly counted: one that changes at once would only flicker

/**
 * @param thread     the conversation's name; null for one that begins with the first question
 * @param onBegun    is told the name of a conversation that began
 * @param onEnded    is called when a turn has ended
 * @param announce   tells those who listen instead of looking what happens
 */
export function useConversation(thread, { onBegun, onEnded, announce }) {
  const [turns, setTurns] = useState([]);
  const [problem, setProblem] = useState(null);
  const shown = useRef(undefined);
  const line = useRef(null);
  const unwanted = useRef(null);
  const runs = useRef(null); // the turn that runs, known before it is drawn

  const change = (id, how) => setTurns((all) => all.map((turn) => (turn.id === id ? { ...turn, ...how(turn) } : turn)));
  const add = (turn) => {
    setTurns((all) => [...all, living(turn)]);
    if (turn.status === "running" && !isNew(turn)) follow(turn.id, `turns/${turn.id}/events`);
  };

  /** Adds the turns of the conversation that are not here. */
  const read = (here) => get(`threads/${thread}?rows=${SHOWN_ROWS}`).then(({ turns: found }) => {
    if (shown.current === thread) found.filter(({ id }) => !here.some((turn) => turn.id === id)).forEach(add);
  });

  useEffect(() => {
    if (shown.current === thread) return;
    shown.current = thread;
    line.current?.abort();
    runs.current = null;
    setTurns([]);
    setProblem(null);
    if (thread === null) return;
    read([]).catch(setProblem);
  }, [thread]);

  useEffect(() => {
    const look = () => {
      if (thread === null || document.hidden || turns.some((turn) => turn.status === "running")) return;
      read(turns).catch(() => {}); // what is shown stays
    };
    addEventListener("focus", look);
    return () => removeEventListener("focus", look);
  }, [thread, turns]);

  async function follow(id, path, body) {
    const control = new AbortController();
    line.current = control;
    let now = (runs.current = id);
    let early;
    try {
      for await (const event of events(path, body, control.signal)) {
        if (event.event === "begun") {
          change(now, () => ({ id: event.turn }));
          arrive(event.thread);
          if (unwanted.current === now) end(event.turn);
          now = runs.current = event.turn;
        } else if (event.event === "early_answer") {
          early = setTimeout(() => change(now, () => ({ answer: event.answer, page: event.page, early: true })), EARLY_MS);
        } else {
          clearTimeout(early);
          change(now, (turn) => after(turn, event));
          announce(said(event));
        }
      }
    } catch (error) {
      clearTimeout(early);
      if (control.signal.aborted) return;
      change(now, () => ({ status: "failed", error, answer: null, live: null }));
      announce(error.message);
    }
    if (runs.current === now) runs.current = null;
    onEnded();
  }

  /** Adds a turn that runs before the server knows of it; `asked` is what it was given. */
  function addNew(asked) {
    const id = (runs.current = `new-${Date.now()}`);
    const question = typeof asked === "string" ? asked : asked.sql || asked.action;
    add({ id, thread, question, asked, begun: Date.now() / 1000, status: "running", answer: null, error: null, feedback: null });
    return id;
  }

  async function ask(question, approve, anew = false) {
    const id = addNew(question);
    const leave = typeof question === "string"; // a query that waits for approval has its buttons, and words are no reply to it
    try {
      const place = (!anew && thread) || (await post("threads", {})).id;
      await follow(id, `threads/${place}/turns`, { question, approve, leave });
    } catch (error) {
      change(id, () => ({ status: "failed", error, live: null }));
      runs.current = null;
    }
  }

  /** Asks once more what a turn was given that has no answer: a question, a reply or a decision. */
  function again(turn, approve) {
    if (isNew(turn)) ask(turn.asked, approve);
    else follow(addNew(turn.question), `turns/${turn.id}/again`, {});
  }

  /** A conversation is told once its first turn runs: that of a refused question is neither listed nor in the address. */
  function arrive(place) {
    if (shown.current === place) return;
    shown.current = place;
    onBegun(place);
  }

  const running = turns.find((turn) => turn.status === "running");
  const end = (id) => post(`turns/${id}/stop`, {}).catch(setProblem);
  const stop = () => {
    const id = runs.current ?? running?.id;
    if (id && isNew({ id })) unwanted.current = id; // ended as soon as the server has named it
    else if (id) end(id);
  };
  return { turns, running, problem, ask, again, stop, add, change };
}

/** Whether the server has not named a turn yet. */
export const isNew = (turn) => turn.id.startsWith("new-");

const living = (turn) => (turn.status === "running" ? { ...turn, live: NOTHING } : turn);

const NOTHING = { phase: "page_reading", tables: [], draft: 0, sql: "", runs: [], notes: [] };

function after(turn, event) {
  const live = turn.live ?? NOTHING;
  switch (event.event) {
    case "linked":
      return { live: { ...live, tables: event.tables, phase: "page_writing" } };
    case "sql_delta": {
      const sql = (event.draft === live.draft ? live.sql : "") + event.text;
      return { live: { ...live, sql, draft: event.draft, phase: "page_writing" } };
    }
    case "sql":
      return { live: { ...live, sql: event.sql, phase: "page_running" } };
    case "rows":
      return { live: { ...live, runs: [...live.runs, event], phase: event.error ? "page_mending" : "page_checking" } };
    case "note":
      return { live: { ...live, notes: [...live.notes, event.text] } };
    case "answer":
      return { status: "answered", answer: event.answer, page: event.page, dates: event.dates, live: null };
    case "error":
      return { status: event.kind === "TurnCancelled" ? "stopped" : "failed", error: event, answer: null, live: null };
    default:
      return {};
  }
}

function said(event) {
  switch (event.event) {
    case "reading": return say("page_reading");
    case "linked": return `${say("page_tables")}: ${event.tables.join(", ")}`;
    case "sql": return say("page_running");
    case "rows": return event.error ? say("page_query_failed") : say("rows", { n: event.row_count ?? 0 });
    case "answer": return event.answer.text;
    case "error": return event.message;
    default: return "";
  }
}

/** A question asked back, apart from the choices that its text ends with, numbered, a line each. */
export function parted(text) {
  const lines = text.split("\n");
  let first = lines.length;
  const number = (place) => Number(/^(\d+)\. /.exec(lines[place])?.[1] ?? 0);
  while (first > 0 && number(first - 1) > 0) first--;
  while (first < lines.length && number(first) !== 1) first++;
  const choices = lines.slice(first).map((line) => line.replace(/^\d+\. /, ""));
  return { question: lines.slice(0, first).join("\n"), choices };
}
