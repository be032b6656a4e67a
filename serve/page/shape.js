// What an answer leads with: its sentence, and the shape that shows its rows best.
import { capital } from "./labels.js";

const TIMES = ["month", "year", "date", "minute", "second"];
const MEASURES = ["number", "money", "percent"];
const LONGEST = 60; // characters of a lone cell that is written large
const BARS = 25; // most names that are compared at a look
const CUT = /^Only the first [\d,]+ rows are shown\.$/; // as versions wrote it that named no kinds of notes

/** Kinds of cells that stand at the right; see `ColumnFormat.is_numeric` of tools/formats.py. */
export const isNumeric = (format) => isMeasure(format) || ["key", "year"].includes(format.kind);
export const isMeasure = (format) => MEASURES.includes(format.kind);

/** The answer's first sentence, and what it says after it: what was counted, other readings, notes. */
export function parts({ text, notes, note_kinds, basis, ledger }) {
  const after = [ledger?.line, ...(basis?.counted ?? []).map(capital), basis?.readings, ...notes].filter(Boolean);
  const places = after.map((one) => text.indexOf(` ${one}`)).filter((place) => place > 0);
  const end = Math.min(text.length, ...places);
  const rest = cuts({ notes, note_kinds }).reduce((left, note) => left.replace(note, ""), text.slice(end));
  return { sentence: text.slice(0, end), rest: rest.trim() };
}

/** What stands before and after a lone cell in the sentence that names it; null if none does. */
export function around(sentence, cell) {
  const ends = (character) => !/[\p{L}\p{N}]/u.test(character ?? "");
  let place = sentence.indexOf(cell);
  while (place >= 0 && !(ends(sentence[place - 1]) && ends(sentence[place + cell.length]))) place = sentence.indexOf(cell, place + 1);
  return place < 0 ? null : [sentence.slice(0, place), sentence.slice(place + cell.length)];
}

/** Notes that only the first rows are shown; not so here, as the table pages all of them. */
const cuts = ({ notes, note_kinds: kinds = [] }) => notes.filter((note, place) => kinds[place] === "cut" || CUT.test(note));

/** `figure` for a lone cell, `chart` for a series or a ranking, nothing where the sentence says it all, else `table`. */
export function shape({ chart, columns, formats, rows, row_count: count }) {
  if (count === 0 || (columns.length === 1 && count === 1 && rows[0]?.[0] === null)) return "";
  if (columns.length === 1 && rows.length === 1 && String(rows[0][0]).length <= LONGEST) return "figure";
  if (chart) return "chart";
  const number = (kinds) => formats.filter(({ kind }) => kinds.includes(kind)).length;
  const [times, measures, names] = [number(TIMES), number(MEASURES), number(["text"])];
  const whole = measures > 0 && times + measures + names === columns.length;
  const series = times === 1 && names <= 1 && measures <= 3;
  const ranking = times === 0 && names === 1 && measures === 1 && count <= BARS;
  return whole && count > 2 && (series || ranking) ? "chart" : "table";
}
