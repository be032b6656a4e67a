// Right, wrong in words or with the right query, and definitions to note; each is one step.
import { get, post } from "./api.js";
import { Line } from "./dialogs.js";
import { html, useRef, useState } from "./html.js";
import { Icon } from "./icons.js";
import { say } from "./labels.js";
import { Editor } from "./sql.js";
import { sentenceOf } from "./why.js";

const DONE = { approve: "page_saved_right", correct: "page_corrected", note: "page_noted", down: "page_marked_wrong" };

export function Feedback({ turn, tools }) {
  const [open, setOpen] = useState(turn.wording && turn.answer.answered && !turn.feedback ? "right" : null);
  const [problem, setProblem] = useState(null);
  const [proposed, setProposed] = useState({ lines: [] });
  const [noted, setNoted] = useState(null);
  const first = tools.turns[0]?.id === turn.id;
  const proposal = turn.wording ?? (turn.feedback?.question || turn.answer.rephrased);
  const [typed, setWording] = useState(null);
  const wording = typed ?? proposal;
  const place = useRef(null);
  const given = turn.feedback?.kind;
  const give = async (feedback, id = turn.id) => {
    try {
      const told = await post(`turns/${id}/feedback`, feedback);
      if (feedback.kind !== "note") tools.change(turn.id, () => ({ feedback }));
      setNoted(feedback.kind);
      setOpen(null);
      const why = told.entry?.unchecked;
      setProblem(why ? { message: sentenceOf(say("page_unchecked", { why })) } : null);
      if (told.proposals) setProposed({ turn: told.turn, lines: told.proposals });
      if (told.turn) {
        tools.add(await get(`turns/${told.turn}`));
        setTimeout(() => document.getElementById(`turn-${told.turn}`)?.focus({ preventScroll: true })); // once it is drawn
      }
    } catch (error) {
      setNoted(null);
      setProblem(error);
      if (error.kind === "ExampleRefused" && feedback.kind === "approve") unfold("right");
    }
  };
  const accept = async (number) => {
    await give({ kind: "note", number }, proposed.turn);
    setProposed({ ...proposed, lines: proposed.lines.map((line, place) => (place === number - 1 ? null : line)) });
  };
  const done = DONE[noted ?? given];
  const unfold = (what) => {
    setOpen(what);
    if (what) setTimeout(() => show(place.current?.querySelector(".panel")));
  };
  const toggle = (what) => unfold(open === what ? null : what);
  const right = () => {
    if (first) give({ kind: "approve" });
    else if (turn.wording && open === "right") place.current.querySelector(".panel form").requestSubmit(); // its words were proposed
    else unfold("right");
  };
  const onKeyDown = (event) => event.key === "Escape" && open && (event.preventDefault(), setOpen(null)); // a turn goes on
  return html`<div class="feedback" ref=${place} onKeyDown=${onKeyDown}>
    <div class="buttons">
      ${turn.answer.answered && html`<button aria-pressed=${String(given === "approve")} aria-expanded=${String(open === "right")} onClick=${right}><${Icon} name="up" />${say("page_right")}</button>`}
      ${(turn.answer.sql || turn.answer.status !== "failed") && html`<button aria-pressed=${String(given === "down" || given === "correct")} aria-expanded=${String(open === "wrong")} onClick=${() => toggle("wrong")}><${Icon} name="down" />${say("page_wrong")}</button>`}
      <button aria-expanded=${String(open === "note")} onClick=${() => toggle("note")}><${Icon} name="note" />${say("page_note")}</button>
      <span class="quiet" role="status">${done && say(done)}</span>
    </div>
    ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
    ${open === "right" && html`<div class="panel"><${Line} label=${say(turn.wording ? "page_right_now" : "page_save_answer")} button=${say("page_save")} needed
      hint=${say("page_alone")} given=${proposal} onGiven=${(question) => give({ kind: "approve", question })} /></div>`}
    ${open === "wrong" && html`<div class="panel">
      <${Line} label=${say("page_what_wrong")} button=${say("page_answer_again")} needed
        other=${[say("page_only_wrong"), (text) => give({ kind: "down", text })]} onGiven=${(text) => give({ kind: "correct", text })} />
      ${turn.answer.sql && html`<details class="more" onToggle=${({ target }) => target.open && show(target, "textarea")}><summary>${say("page_write_right")}</summary>
        ${!first && html`<div class="line"><label>${say("page_save_answer")}<input maxlength="10000" placeholder=${say("page_alone")} value=${wording} onInput=${(event) => setWording(event.target.value)} /></label></div>`}
        <${Editor} text=${turn.answer.sql} label=${say("page_right_query")} actions=${[[say("page_save_right"), (sql) => give({ kind: "correct", sql, question: first ? "" : wording.trim() })]]} onCancel=${() => setOpen(null)} /></details>`}
    </div>`}
    ${open === "note" && html`<div class="panel">
      <${Line} label=${say("page_what_means")} button=${say("page_note_it")} needed
        onGiven=${(text) => give({ kind: "note", text })} />
      <button class="link" onClick=${tools.listLessons}>${say("page_see_saved")}</button></div>`}
    ${proposed.lines.some(Boolean) && html`<div class="panel"><p>${say("page_note_for_all")}</p>
      ${proposed.lines.map((line, place) => line && html`<p><button onClick=${() => accept(place + 1)}>${say("page_note_it")}</button> ${line}</p>`)}</div>`}
  </div>`;
}

/** Brings an opened part into sight, and the keys into its field. */
function show(part, field = "input") {
  part?.querySelector(field)?.focus({ preventScroll: true });
  part?.scrollIntoView({ block: "nearest" });
}
