const separableWhatIf = (() => {
  "use strict";

  const SHOWN_TERMS = 15;
  const SHOWN_CLASSES = 10;
  const OPEN_FIELDS = 16;
  const LONGEST_SELECT = 60;

  // --- answers: what a row gets, and why ---

  // The names of places: those told, else a text's column and term, a column and its level.
  function namesOf(data) {
    const names = new Map(data.names);
    const add = (place, name) => names.has(place) || names.set(place, name);
    for (const step of data.model.MODEL.steps) {
      if (step.kind === "text") step.terms.forEach((at, term) => add(step.first + at, (step.name === null ? "" : `${step.name}:`) + term));
      if (step.kind === "category") step.levels.forEach((place, level) => add(place, `${step.name}=${level}`));
      if (step.kind === "numbers") data.model.COLUMNS.forEach((name, place) => add(place, name));
    }
    return names;
  }

  // A model as data, with the functions that score and the names of places.
  function modelOf(data) {
    const scorer = separableScorer(data.model);
    const { intercept, start, fields } = data;
    return { ...scorer, names: namesOf(data), intercept, start, fields, ...data.model };
  }

  // The score that is explained: the one asked for, else that of the predicted class.
  function whichScore(model, scores, wanted) {
    if (wanted !== null) return wanted;
    if (model.CLASSES === null || scores.length === 1) return 0;
    return scores.indexOf(scores.reduce((a, b) => Math.max(a, b)));
  }

  // Everything that is said of a row. Throws where a value cannot be used.
  function explain(model, row, wanted = null) {
    const scores = model.scores(row);
    const k = whichScore(model, scores, wanted);
    const parts = new Map();
    model.contributions(row).forEach((each, place) => parts.set(place, each.parts[k]));
    const sorted = [...parts].filter(([, part]) => part !== 0);
    sorted.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]) || a[0] - b[0]);
    const rest = sorted.slice(SHOWN_TERMS);
    return {
      scores,
      k,
      score: scores[k],
      prediction: model.predict(row),
      probabilities: model.probabilities ? model.probabilities(row) : null,
      intercept: model.intercept[k],
      terms: sorted.slice(0, SHOWN_TERMS).map(([place, part]) => ({ name: model.names.get(place), place, part })),
      others: { count: rest.length, part: rest.reduce((sum, [, part]) => sum + part, 0) },
      parts,
    };
  }

  // The words of a text with what each adds; null where words cannot be told apart.
  function words(model, step, text, parts) {
    const spans = model.wordSpans(step, text);
    if (spans === null) return null;
    const shares = model.wordParts(step, spans, parts);
    return spans.map((span, i) => ({ ...span, part: shares[i] }));
  }

  // --- numbers and names for people ---

  function shown(x) {
    return String(Number(x.toPrecision(6))).replace(/-/g, "\u2212");
  }

  function signed(x) {
    return x > 0 ? `+${shown(x)}` : shown(x);
  }

  // How numbers up to a size are written below each other: with the same number of decimals.
  function inColumn(largest) {
    if (largest === 0 || largest >= 1e12 || largest < 1e-9) return signed;
    const decimals = Math.max(0, 3 - Math.floor(Math.log10(largest)));
    return (x) => {
      const text = Math.abs(x).toFixed(decimals);
      if (Number(text) === 0) return text;
      return (x > 0 ? "+" : "\u2212") + text;
    };
  }

  function percent(share) {
    if (share > 0 && share < 0.001) return "< 0.1%";
    if (share < 1 && share > 0.999) return "> 99.9%";
    return `${(100 * share).toFixed(1)}%`;
  }

  function named(text) {
    return String(text) === "" ? "(empty)" : String(text);
  }

  // --- elements: text is only ever text ---

  function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.startsWith("aria-") || ["for", "list", "role", "scope"].includes(name)) element.setAttribute(name, value);
      else element[name] = value;
    }
    element.append(...children);
    return element;
  }

  // Text of the data, kept from turning its surroundings around.
  function data(text) {
    return make("bdi", {}, named(text));
  }

  function option(text, value, selected) {
    return make("option", { value: String(value), defaultSelected: selected }, named(text));
  }

  // --- fields: each gives a value, and can be set back to the start ---

  // Choices are pairs of text and value; the one at a place is chosen first.
  function selectField(id, choices, at) {
    const select = make("select", { id }, ...choices.map(([text], i) => option(text, i, i === at)));
    return { input: select, value: () => choices[Number(select.value)][1] };
  }

  function newLevel(levels) {
    let level = "(another)";
    while (levels.has(level)) level += "!";
    return level;
  }

  function categoryField(id, field, step) {
    const known = [...step.levels.keys(), ...step.numbers.keys()];
    if (known.length > LONGEST_SELECT) return listField(id, field, known);
    const choices = known.map((level) => [level, level]);
    if (field.missing || field.start === null) choices.push(["(missing)", null]);
    if (!step.refuses) choices.push(["(another level)", newLevel(step.levels)]);
    const at = choices.findIndex(([, value]) => value === field.start);
    return selectField(id, choices, at >= 0 ? at : step.refuses ? 0 : choices.length - 1);
  }

  // Many levels: they are typed, with the known ones on offer.
  function listField(id, field, known) {
    const oneLine = (level) => String(level).replace(/[\r\n]/g, "");
    const levels = new Map(known.map((level) => [oneLine(level), level]));
    const list = make("datalist", { id: `${id}-list` }, ...known.map((level) => make("option", { value: oneLine(level) })));
    const start = field.start === null ? "" : oneLine(field.start);
    const input = make("input", { id, type: "text", list: list.id, defaultValue: start, autocomplete: "off" });
    const value = () => {
      if (levels.has(input.value)) return levels.get(input.value);
      return input.value === "" ? null : input.value;
    };
    return { input, extra: list, value, hint: `${known.length} levels; one that is not among them may be typed.` };
  }

  function numberField(id, field) {
    const start = field.start === null ? "" : String(field.start);
    const input = make("input", { id, type: "number", step: "any", defaultValue: start, placeholder: field.blank });
    const value = () => {
      if (input.validity.badInput) throw Object.assign(new Error("This is not a number."), { column: field.name });
      return input.value === "" ? null : input.value;
    };
    return { input, value };
  }

  function dateField(id, field) {
    const type = field.kind === "date" ? "date" : "datetime-local";
    const start = field.start === null ? "" : field.kind === "moment" && !field.start.includes("T") ? `${field.start}T00:00` : field.start;
    const input = make("input", { id, type, step: type === "date" ? "1" : "any", defaultValue: start });
    const value = () => {
      if (input.validity.badInput) throw Object.assign(new Error("This is not a whole date."), { column: field.name });
      return input.value === "" ? null : input.value;
    };
    return { input, value, hint: `Empty: ${field.blank}.` };
  }

  function textField(id, field) {
    const start = field.start === null ? "" : String(field.start);
    const input = make("textarea", { id, rows: 5, defaultValue: start, dir: "auto", placeholder: "Type a text" });
    if (!field.missing) return { input, value: () => input.value };
    const box = make("input", { id: `${id}-missing`, type: "checkbox", defaultChecked: field.start === null });
    const extra = make("label", { className: "what-if-check", for: box.id }, box, " missing");
    return { input, extra, value: () => (box.checked ? null : input.value) };
  }

  function levelsField(id, field, levels) {
    const start = Array.isArray(field.start) ? field.start : [field.start];
    const options = [...levels.keys()].map((level, i) => make("option", { value: String(i), defaultSelected: start.includes(level) }, named(level)));
    const input = make("select", { id, multiple: true, size: Math.min(5, Math.max(2, options.length)) }, ...options);
    const known = [...levels.keys()];
    const value = () => [...input.selectedOptions].map((each) => known[Number(each.value)]);
    return { input, value, hint: "None, one or several." };
  }

  function eitherField(id, field) {
    const start = field.start === null || Array.isArray(field.start) ? "" : String(field.start);
    const input = make("input", { id, type: "text", defaultValue: start });
    const value = () => (input.value !== "" && Number.isFinite(Number(input.value)) ? Number(input.value) : input.value || null);
    return { input, value, hint: `A number or a text; empty: ${field.blank}.` };
  }

  function makeField(id, field, steps) {
    const step = steps.length === 1 ? steps[0] : steps[field.at];
    if (field.kind === "number") return numberField(id, field);
    if (field.kind === "date" || field.kind === "moment") return dateField(id, field);
    if (field.kind === "text") return textField(id, field);
    if (field.kind === "category") return categoryField(id, field, step);
    if (field.kind === "levels") return levelsField(id, field, step.levels.get(field.name));
    if (field.kind === "either") return eitherField(id, field);
    const choices = [["true", true], ["false", false]];
    if (field.missing || field.start === null) choices.push(["(missing)", null]);
    return selectField(id, choices, choices.findIndex(([, value]) => value === field.start));
  }

  // A field with its label, its hint and a place for what is wrong with it.
  function fieldBox(number, field, steps) {
    const id = `what-if-${number}`;
    const made = makeField(id, field, steps);
    const error = make("p", { id: `${id}-error`, className: "what-if-error", role: "alert", hidden: true });
    const hint = make("small", { id: `${id}-hint` }, made.hint || "");
    made.input.setAttribute("aria-describedby", `${hint.id} ${error.id}`);
    const marked = make("p", { className: "what-if-words", dir: "auto", hidden: true });
    const box = make("div", { className: "what-if-field" }, make("label", { for: id }, data(field.name)), made.input);
    if (made.extra) box.append(made.extra);
    box.append(hint, error, marked);
    const say = (message) => {
      error.textContent = message;
      error.hidden = message === "";
      if (message) made.input.setAttribute("aria-invalid", "true");
      else made.input.removeAttribute("aria-invalid");
    };
    return { ...field, box, value: made.value, say, marked };
  }

  // The row that the fields hold, as the scorer takes it.
  function rowOf(start, takes, fields) {
    if (takes === "text") return fields[0].value();
    if (takes !== "record") {
      const row = start.slice();
      for (const field of fields) row[field.at] = field.value();
      return row;
    }
    const row = new Map(start);
    for (const field of fields) {
      const value = field.value();
      if (value === null || value.length === 0) row.delete(field.name);
      else row.set(field.name, field.kind === "number" ? Number(value) : value);
    }
    return row;
  }

  // --- what is shown ---

  function bar(share, sign) {
    const inside = make("span", { className: sign < 0 ? "what-if-down" : "what-if-up" });
    inside.style.width = `${(100 * Math.abs(share)).toFixed(2)}%`;
    return make("span", { className: "what-if-bar", "aria-hidden": "true" }, inside);
  }

  // A bar to the left or to the right of the middle.
  function signedBar(share) {
    const made = bar(share / 2, share);
    made.classList.add("what-if-signed");
    return made;
  }

  function line(name, number, picture, heading = "th") {
    const first = make(heading, { scope: "row" }, name);
    return make("tr", {}, first, make("td", { className: "what-if-number" }, number), make("td", {}, picture));
  }

  function probabilityLines(model, shares) {
    const order = shares.map((_, k) => k).sort((a, b) => shares[b] - shares[a] || a - b);
    const kept = order.slice(0, SHOWN_CLASSES);
    const lines = kept.map((k) => line(data(model.CLASSES[k]), percent(shares[k]), bar(shares[k], 1)));
    const rest = order.slice(SHOWN_CLASSES).reduce((sum, k) => sum + shares[k], 0);
    if (order.length > SHOWN_CLASSES)
      lines.push(line(`${order.length - SHOWN_CLASSES} others`, percent(rest), bar(rest, 1)));
    return lines;
  }

  const isLog = (model) => model.MODEL.output_range !== null;
  const sumName = (model) => (model.CLASSES !== null ? "score" : isLog(model) ? "logarithm of the prediction" : "prediction");

  function contributionLines(model, answer) {
    const { terms, others, intercept, score } = answer;
    const sizes = [...terms.map(({ part }) => part), others.part].map(Math.abs);
    const largest = sizes.reduce((a, b) => Math.max(a, b), 0) || 1;
    const written = inColumn(Math.max(largest, Math.abs(intercept)));
    const each = (name, part) => line(name, written(part), signedBar(part / largest));
    const lines = terms.map(({ name, part }) => each(data(name), part));
    if (others.count) lines.push(each(`${others.count} other${others.count > 1 ? "s" : ""}`, others.part));
    lines.push(line("intercept", written(intercept), "")); // which no value moves
    const total = line(`${sumName(model)}, the sum`, written(score), "");
    total.className = "what-if-total";
    return [...lines, total];
  }

  function scoreSentence(model, { score, k }) {
    if (model.CLASSES === null) return [];
    if (model.CLASSES.length === 2) return [`Score ${signed(score)}; above ${shown(model.MODEL.score_threshold)} is `, data(model.CLASSES[1]), "."];
    return [`Score ${signed(score)} for `, data(model.CLASSES[k]), "; the class with the largest score is predicted."];
  }

  function predictionText(model, prediction) {
    if (model.CLASSES !== null) return named(prediction);
    return Array.isArray(prediction) ? prediction.map(shown).join(", ") : shown(prediction);
  }

  function showWords(model, field, parts) {
    const step = model.MODEL.steps.length === 1 ? model.MODEL.steps[0] : model.MODEL.steps[field.at];
    const text = field.value();
    const found = text === null || text === "" ? null : words(model, step, text, parts);
    field.marked.hidden = !found || found.every(({ part }) => part === 0);
    field.marked.replaceChildren();
    if (field.marked.hidden) return;
    const largest = found.reduce((top, { part }) => Math.max(top, Math.abs(part)), 0);
    let at = 0;
    for (const { start, stop, part } of found) {
      if (part === 0) continue;
      const mark = make("mark", { className: part > 0 ? "what-if-up" : "what-if-down", title: signed(part) }, text.slice(start, stop));
      mark.style.setProperty("--share", `${(10 + 60 * Math.abs(part / largest)).toFixed(1)}%`);
      field.marked.append(text.slice(at, start), mark);
      at = stop;
    }
    field.marked.append(text.slice(at));
  }

  // --- the form ---

  function explainedSelect(model) {
    const count = model.intercept.length;
    if (count === 1) return null;
    const classes = model.CLASSES !== null;
    const labels = model.intercept.map((_, k) => (classes ? model.CLASSES[k] : `target ${k}`));
    const options = labels.map((label, k) => option(label, k, !classes && k === 0));
    if (classes) options.unshift(option("the predicted class", "", true));
    return make("select", { id: "what-if-score" }, ...options);
  }

  function panel(model) {
    const select = explainedSelect(model);
    const prediction = make("output", { className: "what-if-prediction", "aria-live": "polite" });
    const score = make("p", { className: "what-if-score" });
    const shares = make("tbody");
    const terms = make("tbody");
    const problem = make("p", { className: "what-if-error", role: "alert", hidden: true });
    const head = make("div", { className: "what-if-head" }, make("p", {}, "Prediction: ", prediction), problem);
    const box = make("div", { className: "what-if-answer" }, score);
    if (model.probabilities) box.append(make("table", {}, make("caption", {}, "Probabilities"), shares));
    if (select) box.append(make("p", {}, make("label", { for: select.id }, "Explain the score of "), select));
    box.append(make("table", {}, make("caption", {}, `Contributions to the ${sumName(model)}`), terms));
    return { head, box, select, prediction, score, shares, terms, problem };
  }

  function fill(out, model, answer) {
    const text = predictionText(model, answer.prediction);
    if (out.prediction.textContent !== text) out.prediction.replaceChildren(data(text));
    out.score.replaceChildren(...scoreSentence(model, answer));
    if (answer.probabilities) out.shares.replaceChildren(...probabilityLines(model, answer.probabilities));
    out.terms.replaceChildren(...contributionLines(model, answer));
  }

  // Say what is wrong, beside the field whose value it is where that is known.
  function complain(out, fields, error) {
    const field = fields.find(({ name }) => name === error.column);
    if (field) field.say(error.message);
    out.problem.textContent = field ? "One of the values cannot be used: see beside it." : error.message;
    out.problem.hidden = false;
    for (const part of [out.head, out.box]) part.classList.add("what-if-stale");
  }

  function update(model, fields, out) {
    fields.forEach((field) => field.say(""));
    out.problem.hidden = true;
    for (const part of [out.head, out.box]) part.classList.remove("what-if-stale");
    try {
      const wanted = out.select && out.select.value !== "" ? Number(out.select.value) : null;
      const answer = explain(model, rowOf(model.start, model.MODEL.takes, fields), wanted);
      fill(out, model, answer);
      for (const field of fields) if (field.kind === "text") showWords(model, field, answer.parts);
    } catch (error) {
      complain(out, fields, error);
    }
  }

  // Answer at once where that is quick; else when typing pauses, and say so until then.
  function unhurried(form, answer) {
    let took = 0;
    let waiting = 0;
    const run = () => {
      const began = performance.now();
      answer();
      took = performance.now() - began;
      form.removeAttribute("aria-busy");
    };
    return () => {
      clearTimeout(waiting);
      if (took < 100) return run();
      form.setAttribute("aria-busy", "true");
      waiting = setTimeout(run, 250);
      return undefined;
    };
  }

  function build(element, given) {
    const model = modelOf(given);
    const fields = model.fields.map((field, i) => fieldBox(i, field, model.MODEL.steps));
    const out = panel(model);
    const inputs = make("div", { className: "what-if-fields" }, ...fields.slice(0, OPEN_FIELDS).map(({ box }) => box));
    const more = fields.slice(OPEN_FIELDS);
    if (more.length)
      inputs.append(make("details", {}, make("summary", {}, `${more.length} more`), ...more.map(({ box }) => box)));
    const left = model.COLUMNS.length - fields.length;
    if (model.MODEL.takes !== "text" && left > 0)
      inputs.append(make("p", {}, `${left} columns with smaller weights keep the values they start with.`));
    inputs.append(make("button", { type: "reset" }, "Start again"));
    const form = make("form", { className: "what-if", autocomplete: "off" }, inputs, out.head, out.box);
    const again = unhurried(form, () => update(model, fields, out));
    form.addEventListener("input", again);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(again, 0));
    element.replaceChildren(form);
    again();
  }

  function start() {
    const element = document.getElementById("what-if");
    const json = document.getElementById("what-if-data");
    if (element && json) build(element, JSON.parse(json.textContent));
  }

  if (typeof document !== "undefined") {
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
    else start();
  }
  return { modelOf, explain, words };
})();
