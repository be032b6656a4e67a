// What every other module draws with: preact's components, written as htm templates instead of JSX.
// A value in a template is always text or an attribute: nothing in this page makes HTML of a string.
import { h } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export { render } from "./vendor/preact.js";
export { useEffect, useLayoutEffect, useRef, useState } from "./vendor/hooks.js";
export const html = htm.bind(h);
/** A name of the database, which may go on in another line after each of its words. */
export const breakable = (name) => html`<span>${name.split(/(?<=_)|(?<=[a-z])(?=[A-Z])/).flatMap((word) => [word, html`<wbr />`])}</span>`;
