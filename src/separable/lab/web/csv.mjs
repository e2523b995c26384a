// A small CSV file as columns of numbers and a class. Nothing of it is ever run or parsed as HTML.

import { permutation } from "./kernels.mjs";

/** Limits of a file that is dropped on the page. */
export const MAX_BYTES = 2_000_000;
export const MAX_ROWS = 2000;
export const MAX_COLUMNS = 8;

/** The separator of the first line. @param {string} text */
function separatorOf(text) {
  const head = text.slice(0, text.search(/[\r\n]|$/));
  return [",", ";", "\t"].sort((a, b) => head.split(b).length - head.split(a).length)[0];
}

/** Split CSV into records (RFC 4180, any of , ; tab). @param {string} text @returns {string[][]} */
export function records(text) {
  const separator = separatorOf(text);
  /** @type {string[][]} */ const rows = [];
  let [row, cell, quoted] = [/** @type {string[]} */ ([]), "", false];
  const endRow = () => { row.push(cell); if (row.some((c) => c !== "")) rows.push(row); [row, cell] = [[], ""]; };
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') cell += c;
      else if (text[i + 1] === '"') { cell += '"'; i += 1; } else quoted = false;
    } else if (c === '"' && cell === "") quoted = true;
    else if (c === separator) { row.push(cell); cell = ""; }
    else if (c === "\n") endRow();
    else if (c !== "\r") cell += c;
  }
  if (cell !== "" || row.length) endRow();
  return rows;
}

/** A number with a decimal comma as one with a point; any other text as it is. @param {string} text */
const withPoint = (text) => (/^\s*[-+]?\d+,\d+\s*$/.test(text) ? text.replace(",", ".") : text);

/** @param {string} text @returns {number} */
const number = (text) => (/^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(text) ? Number(text) : NaN);

/** @typedef {{head: string[], rows: string[][], count: number, numeric: number[], targets: number[]}} Table `rows` are all or a sample of `count`, `numeric` are the columns of numbers, `targets` those with few values */
/** @typedef {{target?: number, columns?: number[], negative?: string}} Choice the column of classes, the features, the class that is -1 */

/** Return the table of a file, or throw an Error with a message for the reader. @param {string} text @returns {Table} */
export function tableOf(text) {
  if (text.length > MAX_BYTES) throw new Error(`The file is larger than ${MAX_BYTES / 1e6} MB. Take a sample of at most ${MAX_ROWS} rows, or use: separable train FILE --target COLUMN`);
  const [head, ...cells] = records(text);
  const all = separatorOf(text) === "," ? cells : cells.map((row) => row.map(withPoint));
  const rows = all.length > MAX_ROWS ? sampleOf(all) : all;
  if (!head || rows.length < 2) throw new Error("The file has no rows: the first line names the columns, each line after it is a row.");
  if (head.length < 2) throw new Error("The lab needs a column of numbers and one of classes. The file has one column.");
  const numeric = head.map((_, j) => rows.filter((r) => Number.isFinite(number(r[j] ?? ""))).length >= 0.9 * rows.length);
  const levels = head.map((_, j) => new Set(rows.map((r) => r[j] ?? "")).size);
  const texts = head.map((_, j) => j).filter((j) => !numeric[j] && levels[j] > 1 && levels[j] <= 20);
  const numbers = head.map((_, j) => j).filter((j) => numeric[j] && levels[j] > 1 && levels[j] <= 10 && levels[j] < rows.length).reverse();
  if (texts.length + numbers.length === 0) throw new Error("No column has between 2 and 20 classes. With one class there is nothing to learn; add rows of another class.");
  const table = { head, rows, count: all.length, numeric: head.map((_, j) => j).filter((j) => numeric[j]), targets: [...texts, ...numbers] };
  if (table.numeric.every((j) => j === table.targets[0])) throw new Error("The lab needs a column of numbers beside the classes, and found none.");
  return table;
}

/** A random sample of rows, in their order. @param {string[][]} rows */
function sampleOf(rows) {
  const chosen = permutation(rows.length, 1).slice(0, MAX_ROWS).sort((a, b) => a - b);
  return chosen.map((i) => rows[i]);
}

/** The features that are taken at first: the first two columns of numbers. @param {Table} table @param {number} target */
export const firstColumns = ({ numeric }, target) => numeric.filter((j) => j !== target).slice(0, 2);

/** The classes of a column, sorted. @param {Table} table @param {number} target */
export const classesOf = ({ rows }, target) => [...new Set(rows.map((r) => r[target] ?? ""))].sort();

/** Return the data set of a file, or throw an Error with a message for the reader.
 * @param {string | Table} file @param {Choice} choice */
export function dataOf(file, choice = {}) {
  const table = typeof file === "string" ? tableOf(file) : file;
  const target = choice.target ?? table.targets[0];
  const columns = (choice.columns ?? firstColumns(table, target)).filter((j) => j !== target);
  if (columns.length === 0) throw new Error("Choose at least one column of numbers beside the classes.");
  const kept = table.rows.filter((r) => columns.every((j) => Number.isFinite(number(r[j] ?? ""))));
  const classes = [...new Set(kept.map((r) => r[target] ?? ""))].sort();
  if (classes.length < 2) throw new Error("The rows with numbers have one class only. Add rows of another class.");
  const negative = choice.negative !== undefined && classes.includes(choice.negative) ? choice.negative : classes[0];
  const others = classes.filter((each) => each !== negative);
  return {
    columns: columns.map((j) => table.head[j]),
    classes: [negative, others.length === 1 ? others[0] : "any other"],
    X: kept.map((r) => columns.map((j) => number(r[j]))),
    y: kept.map((r) => (r[target] === negative ? -1 : 1)),
  };
}
