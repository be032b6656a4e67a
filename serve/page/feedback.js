// Right, wrong in words or with the right query, and definitions to note; each is one step.
import { get, post } from "./api.js";
import { Lessons, Line } from "./dialogs.js";
import { html, useState } from "./html.js";
import { Icon } from "./icons.js";
import { Editor } from "./sql.js";

const DONE = { approve: "Saved as right.", correct: "Corrected below.", note: "Noted.", down: "Thank you: marked as wrong." };

export function Feedback({ turn, tools }) {
  const [open, setOpen] = useState(turn.wording && turn.answer.answered && !turn.feedback ? "right" : null);
  const [problem, setProblem] = useState(null);
  const [proposed, setProposed] = useState({ lines: [] });
  const [noted, setNoted] = useState(null);
  const [lessons, setLessons] = useState(false);
  const given = turn.feedback?.kind;
  const give = async (feedback, id = turn.id) => {
    try {
      const told = await post(`turns/${id}/feedback`, feedback);
      if (feedback.kind !== "note") tools.change(turn.id, () => ({ feedback }));
      setNoted(feedback.kind);
      setOpen(null);
      setProblem(null);
      if (told.proposals) setProposed({ turn: told.turn, lines: told.proposals });
      if (told.turn) tools.add(await get(`turns/${told.turn}`));
    } catch (error) {
      setProblem(error);
      if (error.kind === "ExampleRefused" && feedback.kind === "approve") setOpen("right");
    }
  };
  const accept = async (number) => {
    await give({ kind: "note", number }, proposed.turn);
    setProposed({ ...proposed, lines: proposed.lines.map((line, place) => (place === number - 1 ? null : line)) });
  };
  const toggle = (what) => setOpen(open === what ? null : what);
  const right = () => (tools.turns[0]?.id === turn.id ? give({ kind: "approve" }) : toggle("right"));
  return html`<div class="feedback">
    <div class="buttons">
      ${turn.answer.answered && html`<button aria-pressed=${String(given === "approve")} aria-expanded=${String(open === "right")} onClick=${right}><${Icon} name="up" />Right</button>`}
      ${(turn.answer.sql || turn.answer.status !== "failed") && html`<button aria-pressed=${String(given === "down" || given === "correct")} aria-expanded=${String(open === "wrong")} onClick=${() => toggle("wrong")}><${Icon} name="down" />Wrong</button>`}
      <button aria-expanded=${String(open === "note")} onClick=${() => toggle("note")}><${Icon} name="note" />Note a definition</button>
      <span class="quiet" role="status">${DONE[noted ?? given] ?? ""}</span>
    </div>
    ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
    ${open === "right" && html`<div class="panel"><${Line} label=${turn.wording ? "Right now? Save it as the answer to" : "Save it as the answer to"} button="Save" needed
      given=${turn.wording ?? turn.answer.rephrased} onGiven=${(question) => give({ kind: "approve", question })} /></div>`}
    ${open === "wrong" && html`<div class="panel">
      <${Line} label="What is wrong? For example: cancelled orders should not count" button="Answer again" needed
        other=${["Only mark as wrong", (text) => give({ kind: "down", text })]} onGiven=${(text) => give({ kind: "correct", text })} />
      ${turn.answer.sql && html`<details class="more"><summary>Or write the right query: it is run and saved</summary>
        <${Editor} text=${turn.answer.sql} label="The right query" actions=${[["Save the right query", (sql) => give({ kind: "correct", sql })]]} onCancel=${() => setOpen(null)} /></details>`}
    </div>`}
    ${open === "note" && html`<div class="panel">
      <${Line} label="What a word means here, such as: active customer means ordered this year" button="Note" needed
        onGiven=${(text) => give({ kind: "note", text })} />
      <button class="link" onClick=${() => setLessons(true)}>See and change what was saved</button></div>`}
    ${proposed.lines.some(Boolean) && html`<div class="panel"><p>Should this be noted for all questions?</p>
      ${proposed.lines.map((line, place) => line && html`<p><button onClick=${() => accept(place + 1)}>Note</button> ${line}</p>`)}</div>`}
    <${Lessons} open=${lessons} onClose=${() => setLessons(false)} />
  </div>`;
}
