// A result as a table of any size: the server sorts, filters and pages; the first page comes with the answer. Cells are texts as the server writes them.
import { download, get } from "./api.js";
import { html, useEffect, useRef, useState } from "./html.js";
import { fileName, number, say } from "./labels.js";
import { isNumeric } from "./shape.js";

const PAGE = 25;
const SHORT = 40;
const LONG = 80;
const FIRST = { offset: 0, sort: null, descending: false, search: "" };
/** How each result was last looked at, so that a look at its chart loses nothing. */
const views = new Map();
const FILES = { csv: "CSV", xlsx: "Excel", parquet: "Parquet" };

export function Table({ turn }) {
  const [view, setView] = useState(() => views.get(turn.id) ?? FIRST);
  const [page, setPage] = useState(() => (view === FIRST && !turn.page.truncated ? turn.page : null));
  const [problem, setProblem] = useState(null);
  const asked = useRef(FIRST);
  useEffect(() => {
    if (view !== FIRST) views.set(turn.id, view);
    if (view === FIRST && page) return;
    asked.current = view;
    get(`turns/${turn.id}/rows?offset=${view.offset}&limit=${PAGE}&${looks(view)}`).then(
      (found) => asked.current === view && (setPage({ ...found, search: view.search }), setProblem(null)),
      (error) => asked.current === view && setProblem(error),
    );
  }, [view]);
  const scrolled = useRef(null);
  const [wider, setWider] = useState(false); // than what is seen of it
  useEffect(() => {
    const look = () => scrolled.current && setWider(scrolled.current.scrollWidth > scrolled.current.clientWidth + 1);
    look();
    addEventListener("resize", look);
    return () => removeEventListener("resize", look);
  }, [page]);
  const move = (change) => setView((now) => ({ ...now, offset: 0, ...change }));
  const sortBy = (place) => move(view.sort !== place ? { sort: place, descending: false }
    : view.descending ? { sort: null, descending: false } : { descending: true });
  if (!page) return problem ? html`<p class="problem" role="alert">${problem.message}</p>` : html`<p class="quiet">${say("page_loading")}</p>`;
  const numeric = turn.answer.formats.map(isNumeric);
  return html`<div class="result">
    ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
    ${wider && html`<p class="quiet">${say("page_more_columns")} →</p>`}
    <div class="scrolled" ref=${scrolled} tabindex="0" role="group" aria-label=${say("page_rows")}>
      <table>
        <caption class="unseen">${turn.answer.rephrased || turn.question}</caption>
        <thead><tr>${page.headings.map((heading, place) => html`
          <th scope="col" class=${numeric[place] ? "number" : ""} aria-sort=${sorted(view, place)}>
            <button onClick=${() => sortBy(place)} title=${page.columns[place]}><span class="cut">${heading}</span><span class="arrow" aria-hidden="true"></span></button>
          </th>`)}</tr></thead>
        <tbody>${page.texts.map((row) => html`<tr>${row.map((text, place) => html`
          <td dir="auto" class=${numeric[place] ? "number" : text?.length > SHORT ? "words" : ""}><${Cell} text=${text} /></td>`)}</tr>`)}</tbody>
      </table>
      ${page.rows.length === 0 && html`<p class="quiet">${say(view.search ? "page_no_row" : "page_no_rows")}</p>`}
    </div>
    <div class="below"><${Pager} view=${view} page=${page} move=${move} told=${turn.answer.text} /><${Files} turn=${turn} view=${view} /></div>
  </div>`;
}

/** @param told  the answer's words, which say of what there are so many */
function Pager({ view, page, move, told }) {
  const last = Math.min(page.offset + page.rows.length, page.total);
  const many = page.total > PAGE || view.search !== "";
  const { marks } = page;
  const count = say(page.truncated ? "page_or_more" : "rows", { n: page.total }, marks);
  const timer = useRef(null);
  const later = (does) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(does, 250);
  };
  const numbers = told.match(/\d[\d.,]*\d|\d/g) ?? []; // 1.234,5 is one number
  const [first, known] = [page.offset + 1, !page.search && !page.truncated && numbers.includes(number(page.total, 0, marks))];
  const end = Math.floor((page.total - 1) / PAGE) * PAGE;
  const [atFirst, atLast] = [page.offset === 0, last >= page.total].map(String); // such a button keeps the focus
  const range = page.total <= PAGE ? !known && count : say("page_range", { first, last, count: known ? number(page.total, 0, marks) : count }, marks);
  return html`<div class="pager">
    ${(many || page.rows.length > 3) && html`<input type="search" placeholder=${say("page_filter")} aria-label=${say("page_filter")} maxlength="200" value=${view.search}
      onInput=${(event) => later(() => move({ search: event.target.value }))} />`}
    <span class="quiet" role="status">${range}</span>
    ${page.total > PAGE && html`<span class="buttons">
      <button aria-label=${say("page_first")} aria-disabled=${atFirst} onClick=${() => move({ offset: 0 })}>«</button>
      <button aria-disabled=${atFirst} onClick=${() => move({ offset: Math.max(page.offset - PAGE, 0) })}>${say("page_previous")}</button>
      <button aria-disabled=${atLast} onClick=${() => move({ offset: Math.min(page.offset + PAGE, end) })}>${say("page_next")}</button>
      <button aria-label=${say("page_last")} aria-disabled=${atLast} onClick=${() => move({ offset: end })}>»</button>
    </span>`}
  </div>`;
}

function Files({ turn, view }) {
  const [problem, setProblem] = useState(null);
  const save = (form) => download(`turns/${turn.id}/export?format=${form}&${looks(view)}`, fileName(turn, form)).then(() => setProblem(null), setProblem);
  return html`<div class="files"><span class="quiet">${say(view.search ? "page_these_as" : "page_all_as")}</span>
    ${Object.entries(FILES).map(([form, name]) => html`<button class="link" onClick=${() => save(form)}>${name}</button>`)}
    ${problem && html`<span class="problem" role="alert">${problem.message}</span>`}
  </div>`;
}

function Cell({ text }) {
  if (text === null) return html`<span class="null">null</span>`;
  if (text.length <= LONG) return text;
  return html`<details class="long"><summary>${text.slice(0, LONG)}…</summary>${text}</details>`;
}

/** How a person looks at the rows: those that they filter, in the order that they choose. */
const looks = ({ sort, descending, search }) => new URLSearchParams({ search, ...(sort !== null && { sort, descending }) });

const sorted = (view, place) => (view.sort !== place ? "none" : view.descending ? "descending" : "ascending");
