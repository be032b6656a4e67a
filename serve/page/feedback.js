// Thumbs: right, wrong with the right query or a word on why, and definitions to note.
import { get, post } from "./api.js";
import { html, useState } from "./html.js";
import { Icon } from "./icons.js";
import { Editor } from "./sql.js";

const DONE = { approve: "Kept as right.", correct: "The right query is kept.", note: "Noted.", down: "Thank you: noted as wrong." };

export function Feedback({ turn, tools }) {
  const [open, setOpen] = useState(null);
  const [problem, setProblem] = useState(null);
  const [proposals, setProposals] = useState([]);
  const [refused, setRefused] = useState(null);
  const given = turn.feedback?.kind;
  const give = async (feedback) => {
    try {
      const told = await post(`turns/${turn.id}/feedback`, feedback);
      tools.change(turn.id, () => ({ feedback }));
      setOpen(null);
      setProblem(null);
      setRefused(null);
      setProposals((before) => told.proposals ?? before.filter((line) => line !== feedback.text));
      if (told.turn) tools.add(await get(`turns/${told.turn}`));
    } catch (error) {
      setProblem(error);
      setRefused(error.kind === "ExampleRefused" ? feedback : null);
    }
  };
  const toggle = (what) => setOpen(open === what ? null : what);
  return html`<div class="feedback">
    <div class="buttons">
      ${turn.answer.answered && html`<button aria-pressed=${String(given === "approve")} onClick=${() => give({ kind: "approve" })}><${Icon} name="up" />Right</button>`}
      ${(turn.answer.sql || turn.answer.status !== "failed") && html`<button aria-pressed=${String(given === "down" || given === "correct")} aria-expanded=${String(open === "wrong")} onClick=${() => toggle("wrong")}><${Icon} name="down" />Wrong</button>`}
      <button aria-expanded=${String(open === "note")} onClick=${() => toggle("note")}><${Icon} name="note" />Note a definition</button>
      <span class="quiet" role="status">${DONE[given] ?? ""}</span>
    </div>
    ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
    ${refused && html`<div class="panel"><${Line} label="The question, in words that stand alone" button="Keep" needed given=${turn.question}
      onGiven=${(question) => give({ ...refused, question })} /></div>`}
    ${open === "wrong" && html`<div class="panel">
      ${turn.answer.sql && html`<p>What is the right query? It is run and kept, and helps with questions like this one.</p>
        <${Editor} text=${turn.answer.sql} label="The right query" actions=${[["Keep the right query", (sql) => give({ kind: "correct", sql })]]} onCancel=${() => setOpen(null)} />`}
      <${Line} label=${turn.answer.sql ? "Or say what is wrong" : "What is wrong?"} button="Send" onGiven=${(text) => give({ kind: "down", text })} />
    </div>`}
    ${open === "note" && html`<div class="panel">
      <${Line} label="What a word means here, such as: active customers are those who ordered this year" button="Note" needed
        onGiven=${(text) => give({ kind: "note", text })} /></div>`}
    ${proposals.length > 0 && html`<div class="panel"><p>Should this be noted for all questions?</p>
      ${proposals.map((line) => html`<p><button onClick=${() => give({ kind: "note", text: line })}>Note</button> ${line}</p>`)}</div>`}
  </div>`;
}

function Line({ label, button, onGiven, needed = false, given = "" }) {
  const [text, setText] = useState(given);
  const submit = (event) => {
    event.preventDefault();
    onGiven(text.trim());
  };
  return html`<form class="line" onSubmit=${submit}>
    <label>${label}<input maxlength="2000" required=${needed} value=${text} onInput=${(event) => setText(event.target.value)} /></label>
    <button>${button}</button>
  </form>`;
}
