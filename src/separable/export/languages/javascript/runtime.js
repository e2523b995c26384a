// Functions of exported JavaScript files and of the form in reports.
//
// js_source.py copies the sections that a model needs. Text outside sections is a small example
// model: with it this file runs on its own and tests itself.
"use strict";

const separableModel = (() => {
  const COLUMNS = ["age", "colour", "member", "joined", "note", "hours"];
  const CLASSES = ["no", "yes"];
  const MODEL = {
    takes: "columns",
    steps: [
      { kind: "number", name: "age", mean: 40, scale: 10, value: 0, missing: null },
      {
        kind: "category",
        name: "colour",
        typed: false,
        levels: [["blue", 1], ["red", 2]],
        numbers: [],
        missing: null,
        unseen: null,
        refuses: false,
        refuses_missing: false,
      },
      { kind: "boolean", name: "member", true: 3, missing: null },
      {
        kind: "date",
        name: "joined",
        numbers: [[18262, 7, 4], null, null],
        cycles: [[[0, 5]], [], []],
        missing: null,
      },
      {
        kind: "text",
        name: "note",
        lowercase: true,
        strip_accents: null,
        analyzer: "word",
        shortest: 2,
        ngram_range: [1, 1],
        stop_words: ["the"],
        binary: false,
        sublinear: false,
        norm: null,
        hashed: null,
        alternate_sign: true,
        first: 6,
        terms: ["film", "good"],
        idf: null,
        missing: null,
      },
      {
        kind: "curve",
        name: "hours",
        breaks: [0, 10, 20],
        indices: [8, 9, 10],
        linear: false,
        period: 0,
        missing: null,
      },
    ],
    pairs: [
      {
        columns: [5, 2],
        axes: [
          {
            kind: "curve",
            name: "hours",
            breaks: [0, 10, 20],
            indices: [0, 1, 2],
            linear: false,
            period: 0,
            missing: null,
          },
          { kind: "boolean", name: "member", true: 0, missing: null },
        ],
        start: 11,
        width: 1,
      },
    ],
    threshold: null,
    score_threshold: 0,
    output_range: null,
    probabilities: "logistic",
    calibration: null,
    base: [0],
    places: null,
    weights: [
      [1], [2], [-1], [0.5], [0.25], [0.25], [-0.5], [1], [0.25], [0.75], [0.25], [1], [0.5], [-0.5],
    ],
  };
  const ALPHABET = {
    word: [48, 58, 65, 91, 95, 96, 97, 123],
    space: [9, 14, 32, 33],
    lower: [65, 90, 1, 32],
    combining: [],
  };
  const TESTS = [
    {
      row: [50, "red", true, "2020-01-08", "The good film", 15],
      scores: [2],
      sizes: [5],
      prediction: "yes",
      probabilities: [0.11920292202211755, 0.8807970779778823],
    },
    {
      row: [null, null, null, null, null, null],
      scores: [0],
      sizes: [0],
      prediction: "no",
      probabilities: [0.5, 0.5],
    },
  ];
  const PRECISION = 1e-9;

  // section missing, for number, curve, category, boolean, date, text, numbers, record

  function fail(name, value, problem) {
    const shown = typeof value === "bigint" ? String(value) : JSON.stringify(value);
    const text = `Column ${JSON.stringify(name)}: ${String(shown).slice(0, 80)} ${problem}`;
    throw Object.assign(new Error(text), { column: name });
  }

  function isMissing(value) {
    const number = value instanceof Date ? value.getTime() : value;
    return number === null || number === undefined || Number.isNaN(number);
  }

  // section text of, for category, boolean, text

  // A number as Python writes it; whole numbers without a decimal point.
  function numberText(x) {
    if (Number.isInteger(x) && Math.abs(x) < 2 ** 53) return String(x === 0 ? 0 : x);
    if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
    const [mantissa, exponent] = x.toExponential().split("e");
    const power = Number(exponent);
    const sign = x < 0 ? "-" : "";
    const digits = mantissa.replace("-", "").replace(".", "");
    if (power >= -4 && power < 16) {
      if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`;
      if (digits.length <= power + 1) return `${sign}${digits.padEnd(power + 1, "0")}.0`;
      return `${sign}${digits.slice(0, power + 1)}.${digits.slice(power + 1)}`;
    }
    const tail = digits.length > 1 ? `.${digits.slice(1)}` : "";
    const size = String(Math.abs(power)).padStart(2, "0");
    return `${sign}${digits[0]}${tail}e${power < 0 ? "-" : "+"}${size}`;
  }

  function textOf(name, value) {
    if (typeof value === "string") return value;
    if (typeof value === "boolean") return value ? "True" : "False";
    if (typeof value === "number" || typeof value === "bigint") return numberText(Number(value));
    return fail(name, value, "is neither a text nor a number.");
  }

  // section float, for number, curve, numbers, record

  const NUMBER = /^[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity)$/i;

  function numberOf(name, value) {
    let number = NaN;
    if (typeof value === "string") {
      if (!NUMBER.test(value)) fail(name, value, "is not a number.");
      number = /n/i.test(value) ? Infinity : Number(value);
    } else if (["number", "bigint", "boolean"].includes(typeof value)) {
      number = Number(value);
    } else {
      fail(name, value, "is not a number.");
    }
    if (!Number.isFinite(number)) fail(name, String(value), "is infinite, or too large for float64.");
    return number;
  }

  // section number, for number

  function number(step, value, cells) {
    if (isMissing(value)) return put(cells, step.missing, 1);
    const scaled = (numberOf(step.name, value) - step.mean) / step.scale;
    if (!Number.isFinite(scaled) && step.value !== null)
      fail(step.name, value, "is too far from the training values.");
    return put(cells, step.value, scaled);
  }

  // section curve, for curve

  // Interpolates between the two breaks around a value.
  function curve(step, value, cells) {
    if (isMissing(value)) return put(cells, step.missing, 1);
    const { breaks, indices, period } = step;
    let x = numberOf(step.name, value);
    if (breaks.length === 0) return undefined;
    if (period) {
      x %= period;
      if (x < 0) x += period;
      if (x >= period) x = 0;
      if (x < breaks[0]) x += period;
    }
    let left = 0;
    let last = breaks.length - 2;
    while (left < last) {
      const middle = (left + last + 1) >> 1;
      if (breaks[middle] <= x) left = middle;
      else last = middle - 1;
    }
    let t = (x - breaks[left]) / (breaks[left + 1] - breaks[left]);
    if (!step.linear) t = Math.min(Math.max(t, 0), 1);
    if (!Number.isFinite(t)) fail(step.name, value, "is too far from the training values.");
    put(cells, indices[left], 1 - t);
    return put(cells, indices[left + 1], t);
  }

  // section category, for category

  function category(step, value, cells) {
    if (isMissing(value)) {
      if (step.refuses_missing) fail(step.name, null, "is missing, as it never was in training.");
      return put(cells, step.missing, 1);
    }
    const typed = step.typed && typeof value !== "string";
    const levels = typed ? step.numbers : step.levels;
    const level = typed ? Number(value) : textOf(step.name, value);
    if (levels.has(level)) return put(cells, levels.get(level), 1);
    if (step.refuses) fail(step.name, value, "is a level that the training data did not have.");
    return put(cells, step.unseen, 1);
  }

  // section boolean, for boolean

  const SPACES = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*";
  const TRUE = new RegExp(`^${SPACES}(?:true|yes|t|y|1)${SPACES}$`, "i");
  const FALSE = new RegExp(`^${SPACES}(?:false|no|f|n|0)${SPACES}$`, "i");

  function boolean(step, value, cells) {
    if (isMissing(value)) return put(cells, step.missing, 1);
    const word = textOf(step.name, value);
    if (TRUE.test(word)) return put(cells, step.true, 1);
    return FALSE.test(word) || fail(step.name, value, "is neither true nor false.");
  }

  // section date, for date

  const ISO = new RegExp(
    "^(\\d{4})-(\\d\\d)-(\\d\\d)(?:[T ](\\d\\d):(\\d\\d)(?::(\\d\\d)(?:\\.(\\d{1,9}))?)?" +
      "(?:(Z)|([+-])(\\d\\d):?(\\d\\d))?)?$"
  );

  // Days since 1970-01-01 of a day of the Gregorian calendar, and back (Howard Hinnant's way).
  function daysOf(year, month, day) {
    const y = month <= 2 ? year - 1 : year;
    const era = Math.floor(y / 400);
    const yearOfEra = y - era * 400;
    const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
    const leaps = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
    return era * 146097 + yearOfEra * 365 + leaps + dayOfYear - 719468;
  }

  function dayOf(days) {
    const z = days + 719468;
    const era = Math.floor(z / 146097);
    const dayOfEra = z - era * 146097;
    const yearOfEra = Math.floor(
      (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524) - Math.floor(dayOfEra / 146096)) / 365
    );
    const start = 365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
    const dayOfYear = dayOfEra - start;
    const m = Math.floor((5 * dayOfYear + 2) / 153);
    const month = m < 10 ? m + 3 : m - 9;
    const day = dayOfYear - Math.floor((153 * m + 2) / 5) + 1;
    return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
  }

  function date(step, value, cells) {
    if (isMissing(value)) return put(cells, step.missing, 1);
    const invalid = () => fail(step.name, value, "is not a date.");
    const text = value instanceof Date ? value.toISOString() : value;
    const parts = typeof text === "string" ? ISO.exec(text) : null;
    if (parts === null) invalid();
    const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map((i) => Number(parts[i] || 0));
    let days = daysOf(year, month, day);
    const back = dayOf(days);
    const real = year >= 1 && month >= 1 && month <= 12 && day >= 1 && back.month === month;
    if (!real || hour > 23 || minute > 59 || second > 59) invalid();
    let seconds = hour * 3600 + minute * 60 + second;
    if (parts[9]) {
      const shift = Number(parts[10]) * 3600 + Number(parts[11]) * 60;
      if (shift >= 86400) invalid();
      seconds += parts[9] === "+" ? -shift : shift;
    }
    days += Math.floor(seconds / 86400);
    seconds -= Math.floor(seconds / 86400) * 86400;
    const found = dayOf(days);
    if (found.year < 1 || found.year > 9999) invalid();
    const fraction = Number(`${parts[7] || ""}000000`.slice(0, 6)) / 1e6;
    const numbers = [days + (seconds + fraction) / 86400, found.year, found.day];
    step.numbers.forEach((each, i) => each && put(cells, each[2], (numbers[i] - each[0]) / each[1]));
    const weekday = (((days + 3) % 7) + 7) % 7;
    const cycles = [found.month - 1, weekday, Math.floor(seconds / 3600)];
    step.cycles.forEach((pairs, i) => pairs.forEach(([part, place]) => part === cycles[i] && put(cells, place, 1)));
    return undefined;
  }

  // section converted, for converted

  const SAME = { "\t": " ", "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2212": "-", "\u2013": "-", "\u2019": "'" };

  // Converts a text as people write it to a number or an ISO date, then encodes it.
  function converted(step, value, cells) {
    if (typeof value !== "string") return STEPS[step.column](step, value, cells);
    const rules = step.conversion;
    const text = Array.from(value, (letter) => SAME[letter] || letter).join("").replace(/^ +| +$/g, "");
    const word = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    if (rules.missing.includes(word)) return STEPS[step.column](step, null, cells);
    const read = CONVERSIONS[rules.kind](rules, text);
    if (read === null) fail(step.name, value, "is not written as in training.");
    return STEPS[step.column](step, read, cells);
  }

  // The parts of a text that has a form, "" for absent ones; null if it has another.
  function partsOf(form, text) {
    const match = new RegExp(form.pattern).exec(text);
    return match && Object.fromEntries(form.parts.map((name, i) => [name, match[i + 1] || ""]));
  }

  // section number conversion, for number conversion

  function readNumber(rules, text) {
    const part = partsOf(rules, text);
    if (part === null || (part.open === "(") !== (part.close === ")")) return null;
    const units = (part.before !== "") + (part.after !== "");
    const signs = part.open + part.first + part.second + part.last;
    if (units > 1 || (rules.needs_unit && units === 0) || signs.length > 1) return null;
    const digits = part.core.replace(/-/g, ""); // 12.- has no cents
    const core = rules.group ? digits.split(rules.group).join("") : digits;
    const zeros = rules.magnitudes[part.power.trimStart()];
    const power = zeros === undefined ? part.power : `e${zeros}`;
    const number = Number(core.replace(rules.decimal, ".") + power);
    return signs === "(" || signs === "-" ? -number : number;
  }

  // section date conversion, for date conversion

  const MONTHS = [
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
  ];

  // The number of a month from the beginning of its name, 0 for other words.
  function monthOf(name) {
    const word = name.toLowerCase() === "sept" ? "september" : name.toLowerCase();
    const numbers = MONTHS.map((month, i) => (month.startsWith(word) ? i + 1 : 0)).filter(Boolean);
    return numbers.length === 1 ? numbers[0] : 0;
  }

  function isoOf(order, part, twelveHour) {
    const first = Number(part.a);
    if (order !== "name" && part.sep !== part.sep2) return null;
    const second = order === "name" ? monthOf(part.name) : Number(part.b);
    const [month, day] = order === "dmy" || order === "name" ? [second, first] : [first, second];
    let year = Number(part.year);
    if (part.year.length === 2) year += year < 69 ? 2000 : 1900;
    let hour = Number(part.hour || 0);
    const half = part.half.toLowerCase();
    if (half) {
      if (!twelveHour || hour < 1 || hour > 12) return null;
      hour = (hour % 12) + (half === "pm" ? 12 : 0);
    }
    const zone = part.zone === "UTC" || part.zone === "GMT" ? "Z" : part.zone;
    const two = (x) => String(x || 0).padStart(2, "0");
    const time = `${two(hour)}:${two(part.minute)}:${two(part.second)}${part.fraction && `.${part.fraction}`}`;
    return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)} ${time}${zone}`;
  }

  function readDate(rules, text) {
    for (const form of rules.forms) {
      const part = partsOf(form, text);
      if (part !== null) return isoOf(form.order, part, rules.twelve_hour);
    }
    return null;
  }

  // section duration conversion, for duration conversion

  // The hours of a time of day or of a duration.
  function readDuration(rules, text) {
    let part = partsOf(rules.clock, text);
    let seconds = 0;
    if (part !== null) {
      let hour = Number(part.h);
      const half = part.half.toLowerCase();
      if (half) {
        if (!rules.twelve_hour || hour < 1 || hour > 12 || part.sign === "-") return null;
        hour = (hour % 12) + (half === "pm" ? 12 : 0);
      }
      seconds = hour * 3600 + Number(part.m) * 60 + Number(part.s || 0);
    } else {
      part = rules.words === null ? null : partsOf(rules.words, text);
      if (part === null || !(part.d || part.h || part.m || part.s)) return null;
      seconds = Number(part.d || 0) * 86400;
      seconds += Number(part.h || 0) * 3600;
      seconds += Number(part.m || 0) * 60;
      seconds += Number(part.s || 0);
    }
    return (part.sign === "-" ? -seconds : seconds) / 3600;
  }

  // section text, for text

  // Python's characters: runs of those of words and of white space, and lower case.
  function member(ranges) {
    return (point) => {
      let low = 0;
      let high = ranges.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (ranges[middle] <= point) low = middle + 1;
        else high = middle;
      }
      return low % 2 === 1;
    };
  }
  const isWord = member(ALPHABET.word);
  const isSpace = member(ALPHABET.space);
  const isCombining = member(ALPHABET.combining);
  const LOWER = new Map();
  for (let i = 0; i < ALPHABET.lower.length; i += 4) {
    const [first, last, step, shift] = ALPHABET.lower.slice(i, i + 4);
    for (let point = first; point <= last; point += step)
      LOWER.set(String.fromCodePoint(point), String.fromCodePoint(point + shift));
  }
  const CASED = /^\p{Cased}$/u;
  const IGNORED = /^\p{Case_Ignorable}$/u;

  // Whether a capital sigma ends a word: a letter before it, none behind.
  function endsWord(letters, at) {
    let i = at - 1;
    while (i >= 0 && IGNORED.test(letters[i])) i -= 1;
    if (i < 0 || !CASED.test(letters[i])) return false;
    i = at + 1;
    while (i < letters.length && IGNORED.test(letters[i])) i += 1;
    return i >= letters.length || !CASED.test(letters[i]);
  }

  function lowered(letters) {
    const out = letters.map((letter, at) => {
      if (letter === "\u03a3") return endsWord(letters, at) ? "\u03c2" : "\u03c3";
      return letter === "\u0130" ? "i\u0307" : LOWER.get(letter) || letter;
    });
    return Array.from(out.join(""));
  }

  function prepared(rules, text) {
    let letters = Array.from(text);
    if (rules.lowercase) letters = lowered(letters);
    if (rules.strip_accents === null) return letters;
    letters = Array.from(letters.join("").normalize("NFKD"));
    const dropped = rules.strip_accents === "ascii" ? (point) => point > 127 : isCombining;
    return letters.filter((letter) => !dropped(letter.codePointAt(0)));
  }

  // Where runs of letters stand for which `inside` holds: [start, stop].
  function stretches(letters, inside) {
    const out = [];
    let start = -1;
    letters.forEach((letter, at) => {
      const within = inside(letter.codePointAt(0));
      if (within && start < 0) start = at;
      if (!within && start >= 0) out.push([start, at]);
      if (!within) start = -1;
    });
    if (start >= 0) out.push([start, letters.length]);
    return out;
  }

  function runs(letters, inside) {
    return stretches(letters, inside).map(([start, stop]) => letters.slice(start, stop));
  }

  function grams(parts, low, high, space) {
    const out = [];
    for (let n = low; n <= Math.min(high, parts.length); n += 1)
      for (let i = 0; i + n <= parts.length; i += 1) out.push(parts.slice(i, i + n).join(space));
    return out;
  }

  function terms(rules, text) {
    const letters = prepared(rules, text);
    const [low, high] = rules.ngram_range;
    if (rules.analyzer === "char_wb") {
      const words = runs(letters, (point) => !isSpace(point)).map((word) => [" ", ...word, " "]);
      return words.flatMap((word) => (word.length < low ? [word.join("")] : grams(word, low, high, "")));
    }
    if (rules.analyzer === "char") {
      const kept = [];
      letters.forEach((letter, i) => {
        const space = isSpace(letter.codePointAt(0));
        const before = i > 0 && isSpace(letters[i - 1].codePointAt(0));
        if (space && before) kept[kept.length - 1] = " ";
        else kept.push(letter);
      });
      return grams(kept, low, high, "");
    }
    const words = runs(letters, isWord).filter((word) => word.length >= rules.shortest);
    const tokens = words.map((word) => word.join("")).filter((word) => !rules.stop_words.has(word));
    return grams(tokens, low, high, " ");
  }

  // MurmurHash3 of 32 bits, seed 0, as a signed number.
  function hash(term) {
    const data = new TextEncoder().encode(term);
    const scramble = (k) => {
      const x = Math.imul(k, 0xcc9e2d51);
      return Math.imul((x << 15) | (x >>> 17), 0x1b873593);
    };
    let h = 0;
    for (let at = 0; at < data.length; at += 4) {
      const left = Math.min(4, data.length - at);
      let k = 0;
      for (let i = 0; i < left; i += 1) k |= data[at + i] << (8 * i);
      h ^= scramble(k);
      if (left === 4) h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
    }
    h ^= data.length;
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    return (h ^ (h >>> 16)) | 0;
  }

  // Where a term is counted, and as what: [place, 1 or -1]; the place of one not known is undefined.
  function placeOf(step, term) {
    if (step.hashed === null) return [step.terms.get(term), 1];
    const h = hash(term);
    return [Math.abs(h) % step.hashed, h < 0 && step.alternate_sign ? -1 : 1];
  }

  function textCells(step, text, cells) {
    if (/[\ud800-\udfff]/u.test(text)) throw new Error("The text holds half of a surrogate pair.");
    const counts = new Map();
    for (const term of terms(step, text)) {
      const [place, one] = placeOf(step, term);
      if (place !== undefined) counts.set(place, (counts.get(place) || 0) + one);
    }
    const values = new Map();
    for (const [place, count] of counts) {
      let value = step.binary ? 1 : count;
      if (step.sublinear) value = Math.log(value) + 1;
      values.set(place, step.idf === null ? value : value * step.idf[place]);
    }
    let length = 0;
    for (const value of values.values()) {
      if (step.norm === "l1") length += Math.abs(value);
      if (step.norm === "l2") length += value * value;
    }
    if (step.norm === "l2") length = Math.sqrt(length);
    for (const [place, value] of values) put(cells, step.first + place, value / (length || 1));
  }

  function text(step, value, cells) {
    if (step.name === null) {
      if (typeof value !== "string") throw new Error("Expected a text.");
      return textCells(step, value, cells);
    }
    if (isMissing(value)) return put(cells, step.missing, 1);
    return textCells(step, textOf(step.name, value), cells);
  }

  // section numbers, for numbers

  function numbers(step, row, cells) {
    const values = row.map((value, i) => {
      if (isMissing(value)) fail(COLUMNS[i], null, "is missing, and the model takes nothing but numbers.");
      return numberOf(COLUMNS[i], value);
    });
    if (step.products === null) values.forEach((value, place) => put(cells, place, value));
    else
      step.products.forEach((factors, place) =>
        put(cells, place, factors.reduce((product, factor) => product * values[factor], 1))
      );
  }

  // section record, for record

  function record(step, row, cells) {
    const level = (key, text) => step.levels.has(key) && put(cells, step.levels.get(key).get(text), 1);
    for (const [key, value] of row instanceof Map ? row : Object.entries(row)) {
      if (typeof value === "string") level(key, value);
      else if (Array.isArray(value) || value instanceof Set) {
        for (const each of value) {
          if (typeof each !== "string") fail(key, each, "is not a text, as all of a list must be.");
          level(key, each);
        }
      } else if (!isMissing(value)) put(cells, step.numbers.get(key), numberOf(key, value));
    }
  }

  // section main

  function put(cells, place, value) {
    if (typeof place === "number" && place >= 0) cells.set(place, (cells.get(place) || 0) + value);
  }

  // Adds the products of the numbers of two columns.
  function addPair(pair, values, cells) {
    const [firsts, seconds] = pair.axes.map((axis, k) => {
      const part = new Map();
      STEPS[axis.kind](axis, values[pair.columns[k]], part);
      return part;
    });
    firsts.forEach((first, i) =>
      seconds.forEach((second, j) => put(cells, pair.start + i * pair.width + j, first * second))
    );
  }

  // The values of a row in the order of COLUMNS.
  function rowOf(row) {
    if (Array.isArray(row)) {
      if (row.length !== COLUMNS.length) throw new Error(`Expected ${COLUMNS.length} values.`);
      return row;
    }
    if (row === null || typeof row !== "object")
      throw new Error("Expected an object, a Map or an array in the order of COLUMNS.");
    return COLUMNS.map((name) => {
      const there = row instanceof Map ? row.has(name) : Object.prototype.hasOwnProperty.call(row, name);
      if (!there) throw new Error(`The row lacks the column ${JSON.stringify(name)}.`);
      return row instanceof Map ? row.get(name) : row[name];
    });
  }

  // The numbers that the weights are for: a Map of place to value.
  function encode(row) {
    const cells = new Map();
    if (MODEL.takes === "columns") {
      const values = rowOf(row);
      MODEL.steps.forEach((step, i) => STEPS[step.kind](step, values[i], cells));
      MODEL.pairs.forEach((pair) => addPair(pair, values, cells));
    } else {
      const [step] = MODEL.steps;
      STEPS[step.kind](step, MODEL.takes === "numbers" ? rowOf(row) : row, cells);
    }
    return cells;
  }

  // The scores of a row: w.x + b, one for two classes, one a class for more.
  function scores(row) {
    const totals = MODEL.base.slice();
    for (const [place, value] of encode(row)) {
      if (!Number.isFinite(value)) throw new Error("A value is too large for float64.");
      const counted = MODEL.threshold === null ? value : (value > MODEL.threshold) - (MODEL.threshold < 0);
      const weights = WEIGHTS.get(place);
      if (weights) weights.forEach((weight, k) => (totals[k] += weight * counted));
    }
    if (!totals.every(Number.isFinite)) throw new Error("The score is too large for float64.");
    return totals;
  }

  // The class of a row, or in regression its number, or an array of numbers.
  function predict(row) {
    let values = scores(row);
    if (MODEL.output_range !== null) {
      const [low, high] = MODEL.output_range;
      values = values.map((s) => Math.min(Math.max(Math.exp(Math.min(s, Math.log(high))), low), high));
    }
    if (CLASSES === null) return values.length === 1 ? values[0] : values;
    if (CLASSES.length === 2) return CLASSES[values[0] > MODEL.score_threshold ? 1 : 0];
    let best = 0;
    values.forEach((value, k) => {
      if (value > values[best]) best = k;
    });
    return CLASSES[best];
  }

  // section probabilities

  function softmax(values) {
    const top = values.reduce((a, b) => Math.max(a, b));
    const shares = values.map((value) => Math.exp(value - top));
    const sum = shares.reduce((a, b) => a + b, 0);
    return shares.map((share) => share / sum);
  }

  // The probability of each of CLASSES.
  function probabilities(row) {
    let values = scores(row);
    if (MODEL.calibration !== null)
      values = values.map((value, k) => MODEL.calibration[k][0] * value + MODEL.calibration[k][1]);
    if (CLASSES.length === 1) return [1];
    if (CLASSES.length === 2) {
      const small = Math.exp(-Math.abs(values[0]));
      const [less, more] = [small / (1 + small), 1 / (1 + small)];
      return values[0] >= 0 ? [less, more] : [more, less];
    }
    if (MODEL.probabilities === "logistic")
      values = values.map((s) => Math.min(s, 0) - Math.log1p(Math.exp(-Math.abs(s))));
    return softmax(values);
  }

  // end of section

  const CONVERSIONS = { date: readDate, duration: readDuration, number: readNumber };
  const STEPS = { boolean, category, converted, curve, date, number, numbers, record, text };

  // section tables
  for (const step of [...MODEL.steps, ...MODEL.pairs.flatMap((pair) => pair.axes)]) {
    // section category tables
    if (step.kind === "category") {
      step.levels = new Map(step.levels);
      step.numbers = new Map(step.numbers);
    }
    // section text tables
    if (step.kind === "text") {
      step.terms = new Map(step.terms.map((term, place) => [term, place]));
      step.stop_words = new Set(step.stop_words);
    }
    // end of section
    if (step.kind !== "record") continue;
    // section record tables
    step.numbers = new Map(step.numbers);
    step.levels = new Map(step.levels.map(([key, texts]) => [key, new Map(texts)]));
    // section end of tables
  }
  // section weights
  const WEIGHTS = new Map(
    MODEL.weights.map((row, i) => [MODEL.places === null ? i : MODEL.places[i], row])
  );

  // section contributions

  // What each place adds to each score: a Map of place to { value, parts }, without places of 0.
  function contributions(row) {
    const cells = encode(row);
    const { threshold } = MODEL;
    const out = new Map();
    const add = (place, value) => {
      const weights = WEIGHTS.get(place);
      if (weights && value !== 0) out.set(place, { value, parts: weights.map((weight) => weight * value) });
    };
    if (threshold === null) cells.forEach((value, place) => add(place, value));
    else WEIGHTS.forEach((_, place) => add(place, (cells.get(place) || 0) > threshold ? 1 : 0));
    return out;
  }

  // section words

  // The words of a text as it was written: { start, stop, word }, in the units of JavaScript's
  // strings; null where characters are counted, or places cannot be carried back to the text.
  function wordSpans(step, text) {
    if (step.analyzer !== "word") return null;
    const written = Array.from(text);
    const letters = prepared(step, text);
    const starts = [];
    let at = 0;
    for (const letter of written) {
      for (let n = prepared(step, letter).length; n > 0; n -= 1) starts.push([at, at + letter.length]);
      at += letter.length;
    }
    if (starts.length !== letters.length) return null;
    return stretches(letters, isWord)
      .filter(([start, stop]) => stop - start >= step.shortest)
      .map(([start, stop]) => ({
        start: starts[start][0],
        stop: starts[stop - 1][1],
        word: letters.slice(start, stop).join(""),
      }))
      .filter(({ word }) => !step.stop_words.has(word));
  }

  // What each word adds, of what places add (a Map): a term's part is shared out among its words.
  function wordParts(step, spans, parts) {
    const found = new Map();
    const [low, high] = step.ngram_range;
    for (let n = low; n <= Math.min(high, spans.length); n += 1)
      for (let i = 0; i + n <= spans.length; i += 1) {
        const term = spans.slice(i, i + n).map(({ word }) => word).join(" ");
        const [place, sign] = placeOf(step, term);
        if (place === undefined || !parts.has(step.first + place)) continue;
        if (!found.has(place)) found.set(place, []);
        found.get(place).push({ first: i, n, sign: step.binary ? 1 : sign });
      }
    const shares = spans.map(() => 0);
    for (const [place, terms] of found) {
      const part = parts.get(step.first + place) / terms.reduce((sum, { sign }) => sum + sign, 0);
      for (const { first, n, sign } of terms)
        for (let i = first; i < first + n; i += 1) shares[i] += (sign * part) / n;
    }
    return shares;
  }

  // section self test

  // What differs from what the model said when it was exported: nothing, it is hoped.
  function selfTest() {
    const wrong = [];
    TESTS.forEach((test, number) => {
      const row = MODEL.takes === "record" ? new Map(test.row) : test.row;
      const say = (what, found, expected) =>
        wrong.push(`row ${number}: ${what} is ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
      scores(row).forEach((score, k) => {
        if (!(Math.abs(score - test.scores[k]) <= PRECISION * test.sizes[k])) say("the score", score, test.scores[k]);
      });
      const said = predict(row);
      if (CLASSES !== null && said !== test.prediction) say("the prediction", said, test.prediction);
      if (MODEL.output_range !== null && !(Math.abs(said - test.prediction) <= 2 * PRECISION * (1 + test.sizes[0]) * said))
        say("the prediction", said, test.prediction);
      if (test.probabilities !== null)
        api.probabilities(row).forEach((share, k) => {
          const allowed = 1e-9 * (1 + test.sizes.reduce((a, b) => Math.max(a, b)));
          if (!(Math.abs(share - test.probabilities[k]) <= allowed)) say("a probability", share, test.probabilities[k]);
        });
    });
    return wrong;
  }

  // end of section

  const api = {
    COLUMNS, CLASSES, TESTS, encode, scores, predict, probabilities, contributions, wordSpans, wordParts, selfTest,
  };
  return api;
})();

// section node

if (typeof module !== "undefined" && typeof require !== "undefined") {
  module.exports = separableModel;
  if (require.main === module) {
    const problems = separableModel.selfTest();
    problems.forEach((problem) => console.log(problem));
    console.log(`${separableModel.TESTS.length} test rows: ${problems.length ? "FAILED" : "all as expected"}`);
    process.exitCode = problems.length ? 1 : 0;
  }
}
