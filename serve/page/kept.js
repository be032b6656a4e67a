// A choice that this browser keeps, such as whether queries wait for approval.
import { useState } from "./html.js";

export function useKept(name, otherwise) {
  const [value, setValue] = useState(() => read(name, otherwise));
  const keep = (next) => {
    setValue(next);
    try {
      localStorage.setItem(`tableturn-${name}`, JSON.stringify(next));
    } catch {
      // Then it holds until the page is closed.
    }
  };
  return [value, keep];
}

function read(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(`tableturn-${name}`)) ?? otherwise;
  } catch {
    return otherwise;
  }
}
