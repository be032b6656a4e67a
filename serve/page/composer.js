// Where questions are written.
import { html, useState } from "./html.js";
import { Icon } from "./icons.js";
import { dollars, say } from "./labels.js";

export function Composer({ inert, tools, approve, setApprove, left }) {
  const [text, setText] = useState("");
  const last = tools.turns.at(-1);
  const asked = last?.answer?.status === "needs_clarification" && !last.answer.sql;
  const label = say(asked ? "page_your_reply" : "page_your_question");
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
      <textarea id="question" rows="1" maxlength="10000" dir="auto" aria-label=${label} placeholder=${asked ? label : say("page_ask_question")}
        value=${text} onInput=${(event) => setText(event.target.value)} onKeyDown=${onKeyDown}></textarea>
      ${tools.running
        ? html`<button type="button" class="main round" aria-label=${say("page_stop")} onClick=${tools.stop}><${Icon} name="stop" /></button>`
        : html`<button class="main round" aria-label=${say("page_ask")} aria-disabled=${String(!text.trim())}><${Icon} name="send" /></button>`}
    </div>
    <div class="buttons quiet"><label class="check"><input type="checkbox" checked=${approve} onChange=${(event) => setApprove(event.target.checked)} /> ${say("page_show_first")}</label><span class="gap"></span>${left != null && html`<span>${say("page_left", { dollars: dollars(Math.max(left, 0)) })}</span>`}</div>
  </form>`;
}
