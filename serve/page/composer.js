// Where questions are written.
import { html, useState } from "./html.js";
import { Icon } from "./icons.js";

export function Composer({ inert, tools, approve, setApprove, left }) {
  const [text, setText] = useState("");
  const last = tools.turns.at(-1);
  const asked = last?.answer?.status === "needs_clarification" && !last.answer.sql;
  const label = asked ? "Your reply" : "Your question";
  const send = () => {
    if (tools.running || !text.trim()) return;
    setText("");
    tools.ask(text.trim());
  };
  const onKeyDown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  };
  return html`<form class="composer" inert=${inert} onSubmit=${(event) => (event.preventDefault(), send())}>
    <div class="box">
      <textarea id="question" rows="1" maxlength="10000" dir="auto" aria-label=${label} placeholder=${asked ? label : "Ask a question"}
        value=${text} onInput=${(event) => setText(event.target.value)} onKeyDown=${onKeyDown}></textarea>
      ${tools.running
        ? html`<button type="button" class="main round" aria-label="Stop" onClick=${tools.stop}><${Icon} name="stop" /></button>`
        : html`<button class="main round" aria-label="Ask" disabled=${!text.trim()}><${Icon} name="send" /></button>`}
    </div>
    <div class="buttons quiet"><label class="check"><input type="checkbox" checked=${approve} onChange=${(event) => setApprove(event.target.checked)} /> Show me each query before it runs</label><span class="gap"></span>${left != null && html`<span>$${Math.max(left, 0).toFixed(2)} left today</span>`}</div>
  </form>`;
}
