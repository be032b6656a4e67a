// The page's words, in the language that the server chooses for this browser (tools/data/labels.toml).

/** The words that are needed before the server tells the others; a test holds them to the catalogue. */
const FIRST = {
  en: {
    page_language: "en", page_token: "The server's token", page_sign_in: "Sign in",
    page_unreachable: "The server cannot be reached.", page_server_says: "The server says {status}.",
  },
  de: {
    page_language: "de", page_token: "Token des Servers", page_sign_in: "Anmelden",
    page_unreachable: "Der Server ist nicht erreichbar.", page_server_says: "Der Server meldet {status}.",
  },
};
let labels, locale, plurals;
let own = [".", ","]; // before decimals and between thousands

/** Takes the labels, and the marks of numbers, that the server gives with `GET me`. */
export function setLabels(given, marks = own) {
  own = marks;
  labels = { ...labels, ...given };
  const language = labels.page_language;
  locale = navigator.languages.find((tag) => tag.split("-")[0] === language) ?? language;
  plurals = new Intl.PluralRules(language);
  document.documentElement.lang = language;
}

/** A label with its values; the number `n` chooses its plural form. An answer has marks of its own. */
export function say(key, values = {}, marks = own) {
  const label = labels[key];
  const text = typeof label === "string" ? label : label[plurals.select(values.n)] ?? label.other;
  return text.replace(/\{(\w+)\}/g, (_, name) => (typeof values[name] === "number" ? number(values[name], 0, marks) : values[name]));
}

export const number = (value, decimals = 0, marks = own) =>
  value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }).replace(/[.,]/g, (mark) => marks[mark === "." ? 0 : 1]);
export const dollars = (value) => value.toLocaleString(locale, { style: "currency", currency: "USD" });
export const date = (moment, options) => moment.toLocaleDateString(locale, options);
export const time = (moment) => moment.toLocaleString(locale);
/** A name of the database as words, as `humanize_name` of tools/words.py gives it. */
export const readable = (name) => (name.includes(" ") ? name : name.replace(/(?<=[a-z])(?=[A-Z])|_+/g, " ").toLowerCase().trim() || name);
export const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** The name of a file with the words of a question. */
export function fileName(turn, ending) {
  const words = (turn.answer?.rephrased || turn.question).replace(/[^\p{L}\p{N}]+/gu, " ").trim().slice(0, 60).trim();
  return `${words || say("page_result")}.${ending}`;
}

setLabels(FIRST[navigator.languages.map((tag) => tag.split("-")[0]).find((language) => language in FIRST)] ?? FIRST.en);
