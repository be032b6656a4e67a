// The page: conversations, a chat, a schema. Which conversation is shown stands in the address, after the #.
import { get, remove, SIGNED_OUT } from "./api.js";
import { Composer } from "./composer.js";
import { isNew, useConversation } from "./conversation.js";
import { Help, Lessons, SignIn, SignInAgain } from "./dialogs.js";
import { html, render, useEffect, useRef, useState } from "./html.js";
import { Icon } from "./icons.js";
import { keep, useKept } from "./kept.js";
import { keepFocus, useKeys } from "./keys.js";
import { say, setLabels } from "./labels.js";
import { Schema } from "./schema.js";
import { named, Threads } from "./threads.js";
import { Turn } from "./turn.js";
import { Welcome } from "./welcome.js";

const THREADS = 50;
const WIDE = matchMedia("(min-width: 60rem)");

function Door() {
  const [me, setMe] = useState(null);
  const [problem, setProblem] = useState(null);
  const [out, setOut] = useState(false);
  const enter = () => get("me").then((found) => (setLabels(found.labels, found.marks), setMe(found), setProblem(null), setOut(false)), setProblem);
  useEffect(() => {
    enter();
    addEventListener(SIGNED_OUT, () => setOut(true));
  }, []);
  if (me) return html`<${Page} me=${me} enter=${enter} /><${SignInAgain} open=${out && me.session} onDone=${enter} onClose=${() => setOut(false)} />`;
  if (problem?.kind === "Unauthorized" && problem.message.includes("token")) return html`<${SignIn} onDone=${enter} />`;
  return problem && html`<main class="signin"><h1>tableturn</h1><p class="problem" role="alert">${problem.message}</p></main>`;
}

function Page({ me, enter }) {
  const [thread, setThread] = useThread();
  const [threads, setThreads] = useState([]);
  const [more, setMore] = useState(false);
  const [unlisted, setUnlisted] = useState(null);
  const [schema, setSchema] = useState({});
  const [open, setOpen] = useState({ threads: WIDE.matches, schema: WIDE.matches });
  const [wide, setWide] = useState(WIDE.matches);
  const covered = !wide && (open.threads || open.schema);
  const [help, setHelp] = useState(false);
  const [lessons, setLessons] = useState(false);
  const [said, setSaid] = useState("");
  const [approve, setApprove] = useKept("approve", false);
  const [single, setSingle] = useKept("single-keys", true);
  const [theme, toggleTheme] = useTheme();

  const listed = (before) => (found) => {
    setThreads([...before, ...found]);
    setMore(found.length === THREADS);
    setUnlisted(null);
  };
  const wanted = useRef("");
  const some = (offset) => get(`threads?${new URLSearchParams({ limit: THREADS, offset, search: wanted.current })}`);
  const list = () => {
    const search = wanted.current;
    return some(0).then((found) => search === wanted.current && listed([])(found), setUnlisted);
  };
  const older = () => some(threads.length).then(listed(threads), setUnlisted);
  const find = (search) => {
    wanted.current = search;
    list();
  };
  useEffect(() => {
    list();
    if (WIDE.matches && !matchMedia("(pointer: coarse)").matches) focusQuestion(); // letters typed at once are a question, no shortcuts
    WIDE.addEventListener("change", () => (setWide(WIDE.matches), setOpen({ threads: WIDE.matches, schema: WIDE.matches })));
    get("schema").then((found) => setSchema({ found }), (problem) => setSchema({ problem }));
  }, []);

  const talk = useConversation(thread, { onBegun: (id) => (setThread(id), list()), onEnded: () => (list(), enter()), announce: setSaid });
  const toggle = (pane) => setOpen((before) => (WIDE.matches ? { ...before, [pane]: !before[pane] } : { threads: false, schema: false, [pane]: !before[pane] }));
  const uncover = () => WIDE.matches || setOpen({ threads: false, schema: false });
  const begin = () => {
    setThread(null);
    uncover();
    setTimeout(focusQuestion);
  };
  useEffect(() => void uncover(), [thread]);
  useEffect(() => {
    const shown = threads.find((each) => each.id === thread);
    document.title = shown ? `${named(shown)} – ${me.database}` : `${me.database} – tableturn`;
  }, [thread, threads]);
  useStay(talk.turns);
  useKeys(single, {
    "/": focusQuestion, n: begin, t: () => toggle("threads"), s: () => toggle("schema"), d: toggleTheme, "?": () => setHelp(true),
    j: () => step(1), k: () => step(-1),
  }, () => (document.querySelector(".turns").inert ? uncover() : talk.stop()));

  const tools = { ...talk, again: (turn) => talk.again(turn, approve), theme, sureness: me.sureness, listLessons: () => setLessons(true), ask: (question, anew) => talk.ask(question, approve, anew) };
  const drawPane = (name, label) => html`<button class="bare" aria-label=${label} aria-expanded=${String(open[name])} aria-controls=${name} onClick=${() => toggle(name)}><${Icon} name=${name} /></button>`;
  return html`<div class="page">
    <a class="skip" href="#question" onClick=${(event) => (event.preventDefault(), focusQuestion())}>${say("page_to_question")}</a>
    <header>
      ${drawPane("threads", say("page_conversations"))}
      <h1>${me.database}</h1>
      <span class="quiet wide">${me.dialect} · ${me.translator === "offline" ? say("page_offline") : me.model}${me.user && ` · ${me.user}`}</span>
      <span class="gap"></span>
      <button class="bare" aria-label=${say("page_new_conversation")} onClick=${begin}><${Icon} name="plus" /></button>
      <button class="bare" aria-label=${say("page_saved")} onClick=${() => setLessons(true)}><${Icon} name="note" /></button>
      <button class="bare" aria-label=${say(theme === "dark" ? "page_light" : "page_dark")} onClick=${toggleTheme}><${Icon} name=${theme === "dark" ? "sun" : "moon"} /></button>
      <button class="bare" aria-label=${say("page_keys")} onClick=${() => setHelp(true)}><${Icon} name="help" /></button>
      ${me.session && html`<button class="bare" aria-label=${say("page_sign_out")} onClick=${() => remove("session").then(() => location.reload())}><${Icon} name="key" /></button>`}
      ${drawPane("schema", say("page_schema"))}
    </header>
    <aside id="threads" aria-label=${say("page_conversations")} hidden=${!open.threads}>
      <button class="main new" onClick=${begin}><${Icon} name="plus" />${say("page_new_conversation")}</button>
      <${Threads} threads=${threads} unlisted=${unlisted} more=${more} load=${older} find=${find} current=${thread} onChanged=${list}
        onDeleted=${(id) => (id === thread && setThread(null), list())} />
    </aside>
    <main>
      <div class="turns" inert=${covered} role="region" aria-label=${say("page_conversation")} tabindex="0">
        ${talk.problem && html`<p class="problem" role="alert">${talk.problem.status === 404 ? say("page_gone") : talk.problem.message}</p>`}
        ${talk.problem?.status === 404 && html`<button onClick=${begin}>${say("page_new_conversation")}</button>`}
        ${talk.turns.map((turn, place) => html`<${Turn} key=${turn.id} turn=${turn} last=${place === talk.turns.length - 1} tools=${tools} />`)}
        ${thread === null && talk.turns.length === 0 && html`<${Welcome} me=${me} schema=${schema.found} ask=${tools.ask} />`}
      </div>
      <${Composer} inert=${covered} tools=${tools} approve=${approve} setApprove=${setApprove} left=${me.dollars_left} />
    </main>
    <aside id="schema" aria-label=${say("page_schema")} hidden=${!open.schema}>
      <${Schema} schema=${schema.found} problem=${schema.problem} onName=${(name) => (insert(name), uncover(), setTimeout(focusQuestion))} />
    </aside>
    <div class="unseen" role="status" aria-live="polite">${said}</div>
    <${Lessons} open=${lessons} onClose=${() => setLessons(false)} />
    <${Help} open=${help} onClose=${() => setHelp(false)} single=${single} setSingle=${setSingle} />
  </div>`;
}

/** The conversation in the address; null for a new one. */
function useThread() {
  const read = () => location.hash.slice(1) || null;
  const [thread, setThread] = useState(read);
  useEffect(() => addEventListener("hashchange", () => setThread(read())), []);
  const go = (id) => {
    if (id !== read()) history.pushState(null, "", id ? `#${id}` : location.pathname + location.search);
    setThread(id);
  };
  return [thread, go];
}

function useTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const [chosen, setChosen] = useState(document.documentElement.dataset.theme ?? null);
  const [system, setSystem] = useState(dark.matches ? "dark" : "light");
  useEffect(() => {
    dark.addEventListener("change", () => setSystem(dark.matches ? "dark" : "light"));
  }, []);
  const theme = chosen ?? system;
  const toggle = () => {
    const next = theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    setChosen(next);
    keep("theme", next);
  };
  return [theme, toggle];
}

/** Keeps the end in sight while a turn grows, unless one has scrolled away from it; then shows its answer from the top. */
function useStay(turns) {
  const near = useRef(true);
  const before = useRef("");
  const place = () => document.querySelector(".turns");
  useEffect(() => {
    place().addEventListener("scroll", () => (near.current = place().scrollHeight - place().scrollTop - place().clientHeight < 120));
  }, []);
  useEffect(() => {
    const last = turns.at(-1);
    if (!last) return;
    const now = `${last.id} ${last.status}`;
    if (last.status !== "running" && now !== before.current) place().scrollTop = place().lastElementChild.offsetTop - place().offsetTop - 16;
    else if (isNew(last) || near.current) place().scrollTop = place().scrollHeight;
    before.current = now;
  }, [turns]);
}

const question = () => document.getElementById("question");
const focusQuestion = () => question().focus();

function insert(name) {
  const area = question();
  const before = area.value.slice(0, area.selectionStart);
  area.setRangeText(/\S$/.test(before) ? ` ${name}` : name, area.selectionStart, area.selectionEnd, "end");
  area.dispatchEvent(new Event("input", { bubbles: true }));
  area.focus();
}

function step(by) {
  const turns = [...document.querySelectorAll(".turn")];
  const now = turns.indexOf(document.activeElement.closest(".turn"));
  const next = now < 0 ? turns.at(by > 0 ? 0 : -1) : turns[now + by];
  next?.focus();
  next?.scrollIntoView({ block: "start" });
}

keepFocus();
render(html`<${Door} />`, document.getElementById("app"));
