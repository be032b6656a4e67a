// A result as a chart: the server's Vega-Lite specification, drawn by vega-embed. Its expressions are interpreted and
// not compiled (`ast`), as the page's policy allows no code from strings; the drawing libraries come at the first chart.
import { getChart } from "./api.js";
import { html, useEffect, useRef, useState } from "./html.js";
import { fileName, say } from "./labels.js";
import { isMeasure } from "./shape.js";

const KINDS = {
  "": "page_automatic", bar: "page_bars", stacked: "page_stacked", line: "page_line", area: "page_area", pie: "page_pie", point: "page_points",
  histogram: "page_histogram",
};

const NARROW = 480;
const SERIES = 8;
/** What was chosen for each result, so that a look at its table loses nothing. */
const choices = new Map();

/** @param automatic  the chart that fits if nothing is chosen; undefined until it is known */
export function Chart({ turn, theme, automatic }) {
  const [chosen, setChosen] = useState(choices.get(turn.id) ?? {});
  const [spec, setSpec] = useState(automatic);
  const [problem, setProblem] = useState(null);
  const place = useRef(null);
  const view = useRef(null);
  useEffect(() => {
    let gone = false;
    const asked = Object.entries(chosen);
    const found = asked.length > 0 ? getChart(`turns/${turn.id}/chart?${new URLSearchParams(asked)}`) : Promise.resolve(automatic);
    found.then((now) => gone || (setSpec(now), setProblem(null)), (error) => gone || setProblem(error));
    return () => void (gone = true);
  }, [chosen, automatic]);
  useEffect(() => {
    if (!spec) return undefined;
    let gone = false;
    draw(place.current, spec).then((drawn) => (gone ? drawn.finalize() : (view.current = drawn)), setProblem);
    return () => {
      gone = true;
      view.current?.finalize();
      view.current = null;
    };
  }, [spec, theme]);
  const choose = (name, value) => {
    const { [name]: before, ...others } = chosen;
    const now = value === "" ? others : { ...others, [name]: value };
    choices.set(turn.id, now);
    setChosen(now);
  };
  const drawChoice = (name, label, options) => html`<label>${label} <select value=${chosen[name] ?? ""} onChange=${(event) => choose(name, event.target.value)}>
    ${options.map(([value, words]) => html`<option value=${value}>${words}</option>`)}</select></label>`;
  const { formats, headings } = turn.answer;
  const measures = headings.map((heading, place) => [String(place), heading]).filter(([place]) => isMeasure(formats[place]));
  const save = async () => {
    const address = await view.current.view.toImageURL("png", 2);
    Object.assign(document.createElement("a"), { href: address, download: fileName(turn, "png") }).click();
  };
  return html`<div class=${spec === null ? "chart" : "chart drawn"}>
    ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
    ${spec === null && html`<p class="quiet" role="status">${say("page_other_chart")}</p>`}
    <div class="drawing" role="img" aria-label=${spec ? `${say("page_chart")}: ${turn.answer.rephrased || turn.question}` : say("no_chart")} hidden=${!spec} ref=${place}></div>
    <div class="buttons">
      ${drawChoice("kind", say("page_chart"), Object.entries(KINDS).map(([kind, label]) => [kind, say(label)]))}
      ${measures.length > 1 && drawChoice("measure", say("page_measure"), [["", say("page_automatic")], ...measures])}
      <button class="link" disabled=${!spec} onClick=${save}>${say("page_save_png")}</button>
    </div>
  </div>`;
}

async function draw(place, spec) {
  await loaded();
  const fit = spec.width > 280 ? { width: "container", autosize: { type: "fit-x", contains: "padding" } } : {};
  const narrow = place.clientWidth < NARROW;
  const shown = inOurColours(narrow ? narrowed(spec) : spec);
  return window.vegaEmbed(place, { ...shown, title: spec.title?.subtitle ?? "", ...fit }, {
    ast: true, actions: false, defaultStyle: false, renderer: "svg", config: config(place, narrow, whole(spec)), tooltip: { disableDefaultStyle: true },
    loader: { load: refuse, sanitize: refuse }, // the data is in the specification; nothing else is to be loaded
  });
}

const refuse = async () => {
  throw new Error(say("page_chart_loads"));
};

/** The page's colours for the series instead of the scheme that the specification names, while there are enough. */
function inOurColours(spec) {
  const { color } = spec.encoding ?? {};
  if (!color?.scale || color.scale.domain.length > SERIES) return spec;
  const { scheme, ...scale } = color.scale;
  return { ...spec, encoding: { ...spec.encoding, color: { ...color, scale } } };
}

/** The same chart for a phone: long titles take several lines; names below bars are tilted, and those beside bars are cut, or they leave no room. */
function narrowed(spec) {
  const { x, y, ...others } = spec.encoding ?? {};
  const tilted = x?.axis?.labelAngle === 0 && { labelAngle: -40, labelLimit: 90, labelOverlap: false };
  const fitted = (channel, labels) => ({ ...channel, axis: { ...channel.axis, title: channel.title?.match(/\S.{0,35}(?=\s|$)|\S{36}/g), ...labels } });
  return spec.encoding ? { ...spec, encoding: { ...others, ...(x && { x: fitted(x, tilted) }), ...(y && { y: fitted(y, y.axis?.labelLimit && { labelLimit: 110 }) }) } } : spec;
}

/** Whether all numbers are whole: a count has no marks at its tenths. */
const whole = ({ data }) => data?.values.flatMap(Object.values).every((value) => typeof value !== "number" || Number.isInteger(value));

/** The page's colours and font, as the place of the chart has them, and its width. */
function config(place, narrow, whole) {
  const { color, borderTopColor: line, fontFamily: font } = getComputedStyle(place);
  const words = { labelColor: color, titleColor: color, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
  const series = shades(place);
  const below = narrow ? { orient: "bottom", direction: "vertical", columns: 2, labelLimit: 120 } : {};
  return {
    background: null, font, view: { stroke: null }, text: { color }, title: { color, anchor: "start", fontSize: 12 }, legend: { ...words, ...below },
    mark: { color: series[0] }, range: { category: series }, axis: { ...words, ...(narrow ? { labelOverlap: true } : {}), gridColor: line, domainColor: line, tickColor: line }, axisQuantitative: whole ? { tickMinStep: 1 } : {},
  };
}

/** The colours of the series; only a property that is a colour tells which of `light-dark` holds. */
function shades(place) {
  const probe = place.appendChild(document.createElement("span"));
  const found = Array.from({ length: SERIES }, (_, number) => {
    probe.style.color = `var(--series-${number + 1})`;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return found;
}

let loading;
function loaded() {
  loading ??= ["vega", "vega-lite", "vega-embed"].reduce((before, name) => before.then(() => script(`vendor/${name}.js`)), Promise.resolve());
  return loading;
}

const script = (src) => new Promise((resolve, reject) => {
  const element = Object.assign(document.createElement("script"), { src, onload: resolve });
  element.onerror = () => reject(new Error(say("page_no_library")));
  document.head.append(element);
});
