// A CSV file of the reader: its classes and columns are chosen on the page. Nothing of it is run, parsed as HTML, or sent.
import { MAX_BYTES, MAX_COLUMNS, classesOf, dataOf, firstColumns, tableOf } from "./csv.mjs";
import { clipped } from "./drawing.mjs";
import { $, EXAMPLES } from "./page_state.mjs";

/** @type {{open: (name: string) => void}} */
let page = { open: () => {} };
/** @type {import("./csv.mjs").Table | null} */
let table = null;

/** @param {typeof page} actions `open` shows a data set by its name */
export function listenToFiles(actions) {
  page = actions;
  $("file").addEventListener("change", () => openFile($("file").files[0]));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => { event.preventDefault(); openFile(event.dataTransfer?.files[0]); });
  $("target").onchange = () => { fillChoice(); take(); };
  $("negative").onchange = take;
}

/** @param {File | undefined} file */
async function openFile(file) {
  $("message").textContent = "";
  if (!file) return;
  try {
    const opened = tableOf(file.size > MAX_BYTES ? " ".repeat(MAX_BYTES + 1) : await file.text());
    const data = dataOf(opened);
    table = opened;
    $("target").replaceChildren(...table.targets.map((j) => new Option(clipped(opened.head[j]), String(j))));
    fillChoice();
    show(data, file.name);
    if (table.count > table.rows.length) $("message").textContent = `The file has ${table.count} rows. The lab shows a random sample of ${table.rows.length} of them; separable train FILE --target COLUMN takes all.`;
  } catch (error) {
    $("message").textContent = /** @type {Error} */ (error).message;
  }
}

/** The classes of the chosen column, and the columns of numbers beside it. */
function fillChoice() {
  if (!table) return;
  const target = Number($("target").value);
  const first = firstColumns(table, target);
  $("negative").replaceChildren(...classesOf(table, target).map((name) => new Option(clipped(name), name)));
  $("columns").replaceChildren(...table.numeric.filter((j) => j !== target).map((j) => choiceOf(j, first.includes(j))));
}

/** @param {number} j @param {boolean} checked */
function choiceOf(j, checked) {
  const [label, input] = [document.createElement("label"), document.createElement("input")];
  Object.assign(input, { type: "checkbox", value: String(j), checked, onchange: take });
  label.className = "check";
  label.append(input, clipped(/** @type {import("./csv.mjs").Table} */ (table).head[j]));
  return label;
}

/** Take the chosen classes and columns. */
function take() {
  if (!table) return;
  $("message").textContent = "";
  const columns = [...$("columns").querySelectorAll("input:checked")].map((input) => Number(input.value));
  try {
    if (columns.length > MAX_COLUMNS) throw new Error(`The lab shows at most ${MAX_COLUMNS} columns.`);
    show(dataOf(table, { target: Number($("target").value), columns, negative: $("negative").value }));
  } catch (error) {
    $("message").textContent = /** @type {Error} */ (error).message;
  }
}

/** Show rows as the data set "file". @param {any} data @param {string} [name] */
function show(data, name) {
  const option = [...$("example").options].find((o) => o.value === "file") ?? new Option("", "file");
  if (name !== undefined) option.text = `your file: ${clipped(name)}`;
  $("example").prepend(option);
  EXAMPLES.file = data;
  page.open("file");
  $("choice").hidden = $("example").value !== "file";
}

/** Show the choice of columns only beside the rows of a file that was opened on the page. */
export const showChoice = () => { $("choice").hidden = table === null || $("example").value !== "file"; };
