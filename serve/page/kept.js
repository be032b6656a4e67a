// A choice that this browser keeps, such as whether queries wait for approval.
import { useState } from "./html.js";

export function useKept(name, otherwise) {
  const [value, setValue] = useState(() => read(name, otherwise));
  return [value, (next) => (setValue(next), keep(name, JSON.stringify(next)))];
}

export function keep(name, text) {
  try {
    localStorage.setItem(`tableturn-${name}`, text);
  } catch {
    // Then it holds until the page is closed.
  }
}

function read(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(`tableturn-${name}`)) ?? otherwise;
  } catch {
    return otherwise;
  }
}
