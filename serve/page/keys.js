// Keys that work anywhere on the page; dialogs.js tells people of them.
import { useEffect } from "./html.js";

/**
 * @param single   whether keys of one sign do anything
 * @param actions  what each of them does
 * @param stop     what Escape does
 */
export function useKeys(single, actions, stop) {
  useEffect(() => {
    const onKey = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
      if (event.key === "Escape" && !event.defaultPrevented && !event.target.closest(".editor")) stop();
      const writing = event.target.matches("input, textarea, select");
      if (!single || writing || !Object.hasOwn(actions, event.key)) return;
      event.preventDefault();
      actions[event.key]();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
}
