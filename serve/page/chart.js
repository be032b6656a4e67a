// A result as a chart: the server's Vega-Lite specification, drawn by vega-embed. Its expressions are interpreted and
// not compiled (`ast`), as the page's policy allows no code from strings; the drawing libraries come at the first chart.
import { getChart } from "./api.js";
import { html, useEffect, useRef, useState } from "./html.js";

const KINDS = { "": "Fitting", bar: "Bars", stacked: "Stacked bars", line: "Line", area: "Area", pie: "Pie", point: "Points", histogram: "Histogram" };

export function Chart({ turn, theme }) {
  const [kind, setKind] = useState("");
  const [spec, setSpec] = useState(undefined);
  const [problem, setProblem] = useState(null);
  const place = useRef(null);
  const view = useRef(null);
  useEffect(() => {
    getChart(`turns/${turn.id}/chart${kind && `?kind=${kind}`}`).then((found) => (setSpec(found), setProblem(null)), setProblem);
  }, [kind]);
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
  const save = async () => {
    const address = await view.current.view.toImageURL("png", 2);
    Object.assign(document.createElement("a"), { href: address, download: `${turn.id.slice(0, 8)}.png` }).click();
  };
  return html`<div class="chart">
    <div class="buttons">
      <label>Chart <select value=${kind} onChange=${(event) => setKind(event.target.value)}>
        ${Object.entries(KINDS).map(([value, name]) => html`<option value=${value}>${name}</option>`)}</select></label>
      <button class="link" disabled=${!spec} onClick=${save}>Save as PNG</button>
    </div>
    ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
    ${spec === null && html`<p class="quiet" role="status">${kind ? "That kind of chart does not fit these rows." : "No chart fits these rows."}</p>`}
    <div class="drawing" role="img" aria-label=${spec ? `Chart: ${turn.answer.rephrased || turn.question}` : "No chart"} hidden=${!spec} ref=${place}></div>
  </div>`;
}

async function draw(place, spec) {
  await loaded();
  const fit = spec.width > 280 ? { width: "container", autosize: { type: "fit-x", contains: "padding" } } : {};
  return window.vegaEmbed(place, { ...spec, title: spec.title?.subtitle ?? "", ...fit }, {
    ast: true, actions: false, defaultStyle: false, renderer: "svg", config: colours(place), tooltip: { disableDefaultStyle: true },
    loader: { load: refuse, sanitize: refuse }, // the data is in the specification; nothing else is to be loaded
  });
}

const refuse = async () => {
  throw new Error("A chart may load nothing.");
};

/** The page's colours, as the place of the chart has them. */
function colours(place) {
  const { color, borderTopColor: line, fontFamily: font } = getComputedStyle(place);
  const words = { labelColor: color, titleColor: color, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
  return {
    background: null, font, view: { stroke: null }, text: { color }, title: { color, anchor: "start", fontSize: 12 }, legend: words,
    axis: { ...words, gridColor: line, domainColor: line, tickColor: line },
  };
}

let loading;
function loaded() {
  loading ??= ["vega", "vega-lite", "vega-embed"].reduce((before, name) => before.then(() => script(`vendor/${name}.js`)), Promise.resolve());
  return loading;
}

const script = (src) => new Promise((resolve, reject) => {
  const element = Object.assign(document.createElement("script"), { src, onload: resolve });
  element.onerror = () => reject(new Error("The drawing library could not be loaded."));
  document.head.append(element);
});
