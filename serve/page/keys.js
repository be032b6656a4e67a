// Keys that work anywhere on the page, of which dialogs.js tells people; and the focus, which stays where they work.
import { useLayoutEffect } from "./html.js";

/**
 * @param single   whether keys of one sign do anything
 * @param actions  what each of them does
 * @param stop     what Escape does
 */
export function useKeys(single, actions, stop) {
  useLayoutEffect(() => { // before the browser takes another key
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

/** Gives the focus back to what had it before, in the same turn, when what has it leaves the page or is disabled. */
export function keepFocus() {
  let held = []; // what had the focus, the latest first, each with its turn
  addEventListener("focusin", ({ target }) => (held = [[target, target.closest(".turn")], ...held].slice(0, 20)));
  new MutationObserver(() => {
    const [now, turn] = held[0] ?? [];
    if (!now || takes(now) || ![document.body, now].includes(document.activeElement)) return;
    const others = turn?.isConnected ? [...held.filter(([, other]) => other === turn), [turn]] : held;
    others.find(([each]) => takes(each) && (each.focus({ preventScroll: true }), document.activeElement === each));
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled", "hidden", "inert"] });
}

const takes = (element) => element.isConnected && !element.disabled && !element.closest("[hidden], [inert]");
