// Cells as the server writes them in an answer's sentence: by the locale of the answer's formats; see tools/formats.py.
import { say } from "./labels.js";

const LONGEST = 1e15; // more digits than a number has
const FEW = 2; // decimals of a number that is not whole in a column of whole ones
const TIME = /^([12]\d{3})-(0[1-9]|1[0-2])(?:-([0-3]\d)(?:[ T]([0-2]\d):([0-5]\d)(?::([0-5]\d)(?:\.0+)?)?(?:Z|[+-]00(?::?00)?)?)?)?$/;
const NUMERIC = ["key", "year", "number", "money", "percent"];
const MONTH = { year: "numeric", month: "long" };
const DAY = { dateStyle: "medium" };
const CLOCK = { timeStyle: "short" };
/** The parts of a date, with a space between them. */
const DATES = { month: [MONTH], date: [DAY], minute: [DAY, CLOCK], second: [DAY, { timeStyle: "medium" }] };
const PLAIN_DAY = [{ day: "numeric" }, { month: "short" }, { year: "numeric" }];
const PLAIN_CLOCK = { hourCycle: "h23", hour: "2-digit", minute: "2-digit" };
const PLAIN_DATES = { month: [MONTH], date: PLAIN_DAY, minute: [...PLAIN_DAY, PLAIN_CLOCK], second: [...PLAIN_DAY, { ...PLAIN_CLOCK, second: "2-digit" }] };
const MARKS = { EUR: "€", USD: "$", GBP: "£" };
const made = new Map();

export const isNumeric = (format) => NUMERIC.includes(format.kind);

/** A cell as text: a number with its marks, a date by its month's name; what does not fit the format as it is. */
export function formatCell(cell, format) {
  if (format.kind in DATES) return formatTime(String(cell), format);
  if (format.kind === "boolean" && (cell === 0 || cell === 1)) return say(cell ? "page_yes" : "page_no");
  if (!["number", "money", "percent"].includes(format.kind)) return String(cell);
  const whole = typeof cell === "string" && /^-?\d+$/.test(cell); // an integer that JavaScript would round
  if (whole ? format.kind === "percent" : typeof cell !== "number" || Math.abs(cell) >= LONGEST) return String(cell);
  let text = numbers(format, whole ? 0 : decimalsOf(cell, format.decimals)).format(whole ? BigInt(cell) : format.kind === "percent" ? cell / 100 : cell);
  text = text.replace(/[\u200e\u200f]/g, "").replace("\u2212", "-");
  if (format.kind === "money" && isPlain(format.locale)) text = text.replace(/^-?/, (sign) => sign + (MARKS[format.currency] ?? `${format.currency}\u00a0`));
  return format.unit ? `${text}\u00a0${format.unit}` : text;
}

/** The digits behind the point; nothing but zero is written as zero. */
function decimalsOf(number, decimals) {
  const few = decimals || (Number.isInteger(number) ? 0 : FEW);
  const small = number !== 0 && Math.abs(number) < 0.5 * 10 ** -few;
  return small ? Math.min(FEW - Math.floor(Math.log10(Math.abs(number))), 20) : few;
}

function numbers({ kind, currency, locale }, decimals) {
  const style = kind === "money" && !isPlain(locale) ? { style: "currency", currency } : kind === "percent" ? { style: "percent" } : {};
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals, useGrouping: "always", numberingSystem: "latn" };
  return kept(`${kind} ${currency} ${locale} ${decimals}`, () => new Intl.NumberFormat(language(locale), { ...style, ...digits }));
}

function formatTime(text, { kind, locale }) {
  const match = TIME.exec(text);
  if (!match) return text;
  const [year, month, day, hour, minute, second] = match.slice(1).map((part) => Number(part ?? 0));
  const moment = new Date(Date.UTC(year, month - 1, day || 1, hour, minute, second));
  if (moment.getUTCMonth() !== month - 1) return text; // the 31st of February
  const needed = second ? "second" : hour || minute ? "minute" : day > 1 ? "date" : "month";
  const kinds = Object.keys(DATES);
  const finest = kinds[Math.max(kinds.indexOf(kind), kinds.indexOf(needed))];
  const write = (options) => kept(`${JSON.stringify(options)} ${locale}`, () =>
    new Intl.DateTimeFormat(language(locale), { ...options, ...CALENDAR })).format(moment).replaceAll("\u202f", " ");
  return (isPlain(locale) ? PLAIN_DATES : DATES)[finest].map(write).join(" ");
}

/** How a chart writes dates: the names that Vega takes for a language; its specification has the marks of numbers. */
export function chartLanguage(locale) {
  const name = (options, count, first) => Array.from({ length: count }, (_, place) =>
    new Intl.DateTimeFormat(language(locale), { ...options, ...CALENDAR }).format(first(place)));
  const day = (place) => Date.UTC(2023, 0, 1 + place); // a Sunday
  const month = (place) => Date.UTC(2023, place, 1);
  return {
    timeFormatLocale: {
      dateTime: "%x %X", date: isPlain(locale) ? "%-d %b %Y" : pattern(locale, DAY), time: isPlain(locale) ? "%H:%M" : pattern(locale, CLOCK), periods: ["AM", "PM"],
      days: name({ weekday: "long" }, 7, day), shortDays: name({ weekday: "short" }, 7, day),
      months: name({ month: "long" }, 12, month), shortMonths: name({ month: "short" }, 12, month),
    },
  };
}

const CODES = { year: "%Y", month: "%b", minute: "%M", dayPeriod: "%p" };

/** How Vega is told to write dates or times as a language does: with the parts in its order. */
function pattern(locale, options) {
  const form = new Intl.DateTimeFormat(language(locale), { ...options, ...CALENDAR });
  const codes = { ...CODES, hour: form.resolvedOptions().hour12 ? "%-I" : "%H" };
  const code = ({ type, value }) => (type === "day" ? (value === "2" ? "%-d" : "%d") : type === "month" && /^\d/.test(value) ? "%m" : codes[type] ?? value);
  return form.formatToParts(Date.UTC(2023, 10, 2, 13, 14)).map(code).join("");
}

/** The name of a file with the words of a question. */
export function fileName(turn, ending) {
  const words = (turn.answer?.rephrased || turn.question).replace(/[^\p{L}\p{N}]+/gu, " ").trim().slice(0, 60).trim();
  return `${words || say("page_result")}.${ending}`;
}

const CALENDAR = { timeZone: "UTC", calendar: "gregory", numberingSystem: "latn" };
const isPlain = (locale) => !locale || locale === "en"; // as the server writes without a library: 3 Jan 2024 13:05
const language = (locale) => (isPlain(locale) ? "en-US" : locale.replaceAll("_", "-"));

function kept(name, make) {
  if (!made.has(name)) made.set(name, make());
  return made.get(name);
}
