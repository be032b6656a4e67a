// Small drawings on buttons. Whoever cannot see them is told by the button's label.
import { html } from "./html.js";

const PATHS = {
  threads: "M4 6h16M4 12h16M4 18h10",
  schema: "M4 5h16v14H4zM4 10h16M10 10v9",
  plus: "M12 5v14M5 12h14",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5 19 19M5 19l1.5-1.5M17.5 6.5 19 5",
  moon: "M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z",
  pencil: "M4 20l1-5L16 4l4 4L9 19z",
  bin: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  close: "M6 6l12 12M18 6L6 18",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  up: "M7 11l4-8c2 0 3 1 3 3l-1 4h6l-2 10H7zM7 11H3v9h4z",
  down: "M7 13l4 8c2 0 3-1 3-3l-1-4h6L17 4H7zM7 13H3V4h4z",
  note: "M5 4h14v16H5zM9 9h6M9 13h6",
  help: "M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 18v.01",
  key: "M8 12a4 4 0 1 0 0 .01M12 12h9M18 12v4",
};

export const Icon = ({ name }) => html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
