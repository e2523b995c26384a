"""Functions of exported Python modules.

`python_source` copies the sections that a model needs. Text outside sections is a small example
model: with it this file runs on its own and tests itself.
"""

import datetime
import math
import re
import unicodedata
from typing import Any

COLUMNS = ["age", "colour", "member", "joined", "note", "hours"]
CLASSES: Any = ["no", "yes"]
MODEL: dict[str, Any] = {
    "takes": "columns",
    "steps": [
        {"kind": "number", "name": "age", "mean": 40.0, "scale": 10.0, "value": 0, "missing": None},
        {
            "kind": "category",
            "name": "colour",
            "typed": False,
            "levels": [["blue", 1], ["red", 2]],
            "numbers": [],
            "missing": None,
            "unseen": None,
            "refuses": False,
            "refuses_missing": False,
        },
        {"kind": "boolean", "name": "member", "true": 3, "missing": None},
        {
            "kind": "date",
            "name": "joined",
            "numbers": [[18262.0, 7.0, 4], None, None],
            "cycles": [[[0, 5]], [], []],
            "missing": None,
        },
        {
            "kind": "text",
            "name": "note",
            "lowercase": True,
            "strip_accents": None,
            "analyzer": "word",
            "pattern": r"(?u)\b\w\w+\b",
            "shortest": 2,
            "ngram_range": [1, 1],
            "stop_words": ["the"],
            "binary": False,
            "sublinear": False,
            "norm": None,
            "hashed": None,
            "alternate_sign": True,
            "first": 6,
            "terms": ["film", "good"],
            "idf": None,
            "missing": None,
        },
        {
            "kind": "curve",
            "name": "hours",
            "breaks": [0.0, 10.0, 20.0],
            "indices": [8, 9, 10],
            "linear": False,
            "period": 0.0,
            "missing": None,
        },
    ],
    "pairs": [
        {
            "columns": [5, 2],
            "axes": [
                {
                    "kind": "curve",
                    "name": "hours",
                    "breaks": [0.0, 10.0, 20.0],
                    "indices": [0, 1, 2],
                    "linear": False,
                    "period": 0.0,
                    "missing": None,
                },
                {"kind": "boolean", "name": "member", "true": 0, "missing": None},
            ],
            "start": 11,
            "width": 1,
        },
    ],
    "threshold": None,
    "score_threshold": 0.0,
    "output_range": None,
    "probabilities": "logistic",
    "calibration": None,
    "base": [0.0],
    "places": None,
    "weights": [
        [1.0], [2.0], [-1.0], [0.5], [0.25], [0.25], [-0.5], [1.0], [0.25], [0.75], [0.25],
        [1.0], [0.5], [-0.5],
    ],
}
TESTS: list[dict[str, Any]] = [
    {
        "row": [50, "red", True, "2020-01-08", "The good film", 15],
        "scores": [2.0],
        "sizes": [5.0],
        "prediction": "yes",
        "probabilities": [0.11920292202211755, 0.8807970779778823],
    },
    {
        "row": [None, None, None, None, None, None],
        "scores": [0.0],
        "sizes": [0.0],
        "prediction": "no",
        "probabilities": [0.5, 0.5],
    },
]
PRECISION = 1e-9

# section missing, for number, curve, category, boolean, date, text, numbers, record


def _is_missing(value):
    return value is None or type(value).__name__ == "NAType" or value != value


def _text(name, value):
    """Return a value as the text of a level: whole numbers without a decimal point."""
    if isinstance(value, str):
        return value
    if type(value).__name__ in ("bool", "bool_", "numpy.bool"):
        return str(bool(value))
    if hasattr(value, "__float__"):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    raise ValueError("Column %r: %.80r is neither a text nor a number." % (name, value))


# section float, for number, curve, numbers, record


_NUMBER = re.compile(
    r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity)", re.ASCII | re.IGNORECASE
)


def _float(name, value):
    """Return a finite number, also from its text."""
    if isinstance(value, str) and _NUMBER.fullmatch(value) is None:
        raise ValueError("Column %r: %.80r is not a number." % (name, value))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise ValueError("Column %r: %.80r is not a number." % (name, value)) from None
    if math.isinf(number):
        raise ValueError("Column %r: infinity, or a number too large for float64." % (name,))
    return number


# section number, for number


def _number(step, value, cells):
    if _is_missing(value):
        _put(cells, step["missing"], 1.0)
        return
    number = (_float(step["name"], value) - step["mean"]) / step["scale"]
    if math.isinf(number) and step["value"] is not None:
        raise ValueError("Column %r: %r is too far from the training values." % (step["name"], value))
    _put(cells, step["value"], number)


# section curve, for curve


def _curve(step, value, cells):
    """Interpolate between the two breaks around a value."""
    if _is_missing(value):
        _put(cells, step["missing"], 1.0)
        return
    x, breaks, period = _float(step["name"], value), step["breaks"], step["period"]
    if not breaks:
        return
    if period:
        x = x % period % period
        x += period if x < breaks[0] else 0.0
    left, last = 0, len(breaks) - 2
    while left < last:
        middle = (left + last + 1) // 2
        left, last = (middle, last) if breaks[middle] <= x else (left, middle - 1)
    t = (x - breaks[left]) / (breaks[left + 1] - breaks[left])
    if not step["linear"]:
        t = min(max(t, 0.0), 1.0)
    if math.isinf(t):
        raise ValueError("Column %r: %r is too far from the training values." % (step["name"], value))
    _put(cells, step["indices"][left], 1.0 - t)
    _put(cells, step["indices"][left + 1], t)


# section category, for category


def _category(step, value, cells):
    if _is_missing(value):
        if step["refuses_missing"]:
            raise ValueError("Column %r: a missing value, which training did not have." % (step["name"],))
        _put(cells, step["missing"], 1.0)
        return
    if step["typed"] and not isinstance(value, str):
        index = step["numbers"].get(_typed(value), step["unseen"])
        known = _typed(value) in step["numbers"]
    else:
        text = _text(step["name"], value)
        index, known = step["levels"].get(text, step["unseen"]), text in step["levels"]
    if not known and step["refuses"]:
        raise ValueError(
            "Column %r: %.80r is a level that the training data did not have." % (step["name"], value)
        )
    _put(cells, index, 1.0)


def _typed(value):
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


# section boolean, for boolean


_WORDS = {"true": 1, "yes": 1, "t": 1, "y": 1, "1": 1, "false": 0, "no": 0, "f": 0, "n": 0, "0": 0}


def _boolean(step, value, cells):
    if _is_missing(value):
        _put(cells, step["missing"], 1.0)
        return
    word = _WORDS.get(_text(step["name"], value).strip().lower())
    if word is None:
        raise ValueError("Column %r: %.80r is neither true nor false." % (step["name"], value))
    if word:
        _put(cells, step["true"], 1.0)


# section date, for date


_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
    r"(?:(Z)|([+-])(\d\d):?(\d\d))?)?",
    re.ASCII,
)
_DAY = 86400000000  # microseconds


def _microseconds(name, value):
    """Return the microseconds since 1970-01-01 of a date or its text."""
    try:
        if isinstance(value, str):
            parts = _ISO.fullmatch(value)
            if parts is None:
                raise ValueError
            year, month, day, hour, minute, second, fraction, _, sign, hours, minutes = parts.groups()
            value = datetime.datetime(
                int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0),
                int(((fraction or "") + "000000")[:6]),
            )
            if sign is not None:
                shift = datetime.timedelta(hours=int(hours), minutes=int(minutes))
                if shift >= datetime.timedelta(days=1):
                    raise ValueError
                value = value - shift if sign == "+" else value + shift
        elif isinstance(value, datetime.datetime):
            value = value.replace(tzinfo=None)
        elif isinstance(value, datetime.date):
            value = datetime.datetime(value.year, value.month, value.day)
        else:
            raise ValueError
    except (ValueError, OverflowError):
        raise ValueError("Column %r: %.80r is not a date." % (name, value)) from None
    return value, (value - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)


def _date(step, value, cells):
    if _is_missing(value):
        _put(cells, step["missing"], 1.0)
        return
    date, moment = _microseconds(step["name"], value)
    for number, part in zip(step["numbers"], (moment / _DAY, date.year, date.day)):
        if number is not None:
            mean, scale, index = number
            _put(cells, index, (part - mean) / scale)
    for cycle, part in zip(step["cycles"], (date.month - 1, date.weekday(), date.hour)):
        _put(cells, dict(cycle).get(part), 1.0)


# section converted, for converted


_SAME = str.maketrans("\t\u00a0\u2009\u202f\u2212\u2013\u2019", "    --'")


def _converted(step, value, cells):
    """Convert a text as people write it to a number or an ISO date, then encode it."""
    if isinstance(value, str):
        rules = step["conversion"]
        text = value.translate(_SAME).strip(" ")
        # bytes have lower case for ASCII letters alone
        if text.encode("utf-8", "replace").lower().decode() in rules["missing"]:
            value = None
        else:
            value = _CONVERSIONS[rules["kind"]](rules, text)
            if value is None:
                raise ValueError("Column %r: %.80r is not written as in training." % (step["name"], text))
    _STEPS[step["column"]](step, value, cells)


def _parts(form, text):
    """Return the parts of a text that has a form, "" for absent ones; None if it has another."""
    match = re.fullmatch(form["pattern"], text)
    return None if match is None else dict(zip(form["parts"], match.groups("")))


# section number conversion, for number conversion


def _number_text(rules, text):
    part = _parts(rules, text)
    if part is None or (part["open"] == "(") != (part["close"] == ")"):
        return None
    units = (part["before"] != "") + (part["after"] != "")
    if units > 1 or (rules["needs_unit"] and not units):
        return None
    signs = part["open"] + part["first"] + part["second"] + part["last"]
    if len(signs) > 1:
        return None
    core = part["core"].replace("-", "")  # 12.- has no cents
    core = core.replace(rules["group"], "") if rules["group"] else core
    zeros = rules["magnitudes"].get(part["power"].lstrip(" "))
    power = part["power"] if zeros is None else f"e{zeros}"
    number = float(core.replace(rules["decimal"], ".") + power)
    return -number if signs in ("(", "-") else number


# section date conversion, for date conversion


_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)


def _month(name):
    """Return the number of a month from the beginning of its name, 0 for other words."""
    name = "september" if name.lower() == "sept" else name.lower()
    numbers = [number for number, month in enumerate(_MONTHS, 1) if month.startswith(name)]
    return numbers[0] if len(numbers) == 1 else 0


def _date_text(rules, text):
    for form in rules["forms"]:
        part = _parts(form, text)
        if part is not None:
            return _iso(form["order"], part, rules["twelve_hour"])
    return None


def _iso(order, part, twelve_hour):
    year, first = int(part["year"]), int(part["a"])
    if order == "name":
        month, day = _month(part["name"]), first
    elif part["sep"] != part["sep2"]:
        return None
    else:
        second = int(part["b"])
        month, day = (second, first) if order == "dmy" else (first, second)
    if len(part["year"]) == 2:
        year += 2000 if year < 69 else 1900
    hour, half = int(part["hour"] or 0), part["half"].lower()
    if half:
        if not twelve_hour or not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half == "pm")
    zone = "Z" if part["zone"] in ("UTC", "GMT") else part["zone"]
    moment = (year, month, day, hour, int(part["minute"] or 0), int(part["second"] or 0))
    return "%04d-%02d-%02d %02d:%02d:%02d" % moment + (part["fraction"] and "." + part["fraction"]) + zone


# section duration conversion, for duration conversion


def _duration_text(rules, text):
    """Return the hours of a time of day or of a duration."""
    part = _parts(rules["clock"], text)
    if part is not None:
        hour, half = int(part["h"]), part["half"].lower()
        if half:
            if not rules["twelve_hour"] or not 1 <= hour <= 12 or part["sign"] == "-":
                return None
            hour = hour % 12 + 12 * (half == "pm")
        seconds = hour * 3600.0 + int(part["m"]) * 60.0 + float(part["s"] or 0)
    else:
        part = None if rules["words"] is None else _parts(rules["words"], text)
        if part is None or not (part["d"] or part["h"] or part["m"] or part["s"]):
            return None
        seconds = 0.0
        for name, size in (("d", 86400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0)):
            seconds += float(part[name] or 0) * size
    return (-seconds if part["sign"] == "-" else seconds) / 3600.0


# section text, for text


def _prepared(rules, text):
    """Return a text in lower case and without accents, as far as that is asked for."""
    if rules["lowercase"]:
        text = text.lower()
    if rules["strip_accents"] is None or text.isascii():
        return text
    text = unicodedata.normalize("NFKD", text)
    if rules["strip_accents"] == "ascii":
        return text.encode("ascii", "ignore").decode("ascii")
    return "".join(c for c in text if not unicodedata.combining(c))


def _terms(rules, text):
    """Return the words, characters or n-grams of a text."""
    text = _prepared(rules, text)
    low, high = rules["ngram_range"]
    if rules["analyzer"] == "char_wb":
        return [gram for word in text.split() for gram in _inside(" %s " % word, low, high)]
    if rules["analyzer"] == "char":
        parts, space = re.sub(r"\s\s+", " ", text), ""
    else:
        parts, space = [t for t in re.findall(rules["pattern"], text) if t not in rules["stop_words"]], " "
    return [
        space.join(parts[i : i + n])
        for n in range(low, min(high, len(parts)) + 1)
        for i in range(len(parts) - n + 1)
    ]


def _inside(word, low, high):
    if len(word) < low:
        return [word]
    return [word[i : i + n] for n in range(low, min(high, len(word)) + 1) for i in range(len(word) - n + 1)]


def _hash(term):
    """Return MurmurHash3 of 32 bits, seed 0, as a signed number."""
    data, mask = term.encode(), 0xFFFFFFFF
    h = 0
    for at in range(0, len(data), 4):
        k = int.from_bytes(data[at : at + 4], "little") * 0xCC9E2D51 & mask
        h ^= (k << 15 | k >> 17) * 0x1B873593 & mask
        if at + 4 <= len(data):
            h = (h << 13 | h >> 19) * 5 + 0xE6546B64 & mask
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & mask
    h = (h ^ h >> 13) * 0xC2B2AE35 & mask
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


def _text_cells(step, text, cells):
    text.encode()  # refuses half of a surrogate pair
    counts = {}
    for term in _terms(step, text):
        if step["hashed"] is None:
            index, one = step["terms"].get(term), 1
        else:
            h = _hash(term)
            index, one = abs(h) % step["hashed"], -1 if h < 0 and step["alternate_sign"] else 1
        if index is not None:
            counts[index] = counts.get(index, 0) + one
    values = {}
    for index, count in counts.items():
        value = 1.0 if step["binary"] else float(count)
        if step["sublinear"]:
            value = math.log(value) + 1.0
        values[index] = value if step["idf"] is None else value * step["idf"][index]
    length = 0.0
    if step["norm"] == "l1":
        length = math.fsum(map(abs, values.values()))
    elif step["norm"] == "l2":
        length = math.sqrt(math.fsum(value * value for value in values.values()))
    for index, value in values.items():
        _put(cells, step["first"] + index, value / (length or 1.0))


def _text_column(step, value, cells):
    if step["name"] is None:
        if not isinstance(value, str):
            raise ValueError("Expected a text, got %.80r." % (value,))
        _text_cells(step, value, cells)
    elif _is_missing(value):
        _put(cells, step["missing"], 1.0)
    else:
        _text_cells(step, _text(step["name"], value), cells)


# section numbers, for numbers


def _numbers(step, row, cells):
    values = []
    for name, value in zip(COLUMNS, row):
        if _is_missing(value):
            raise ValueError("Column %r is missing, and the model takes nothing but numbers." % (name,))
        values.append(_float(name, value))
    if step["products"] is None:
        cells.update(enumerate(values))
        return
    for index, factors in enumerate(step["products"]):
        product = 1.0
        for factor in factors:
            product *= values[factor]
        cells[index] = product


# section record, for record


def _record(step, row, cells):
    for key, value in row.items():
        key = str(key)
        if isinstance(value, str):
            _put(cells, step["levels"].get(key, {}).get(value), 1.0)
        elif isinstance(value, (list, tuple, set, frozenset)):
            for text in value:
                if not isinstance(text, str):
                    raise ValueError("Feature %r: %.80r is not a text, as all of a list must be." % (key, text))
                _put(cells, step["levels"].get(key, {}).get(text), 1.0)
        elif not _is_missing(value):
            _put(cells, step["numbers"].get(key), _float(key, value))


# end of section

_CONVERSIONS = {"date": _date_text, "duration": _duration_text, "number": _number_text}
_STEPS = {
    "boolean": _boolean,
    "category": _category,
    "converted": _converted,
    "curve": _curve,
    "date": _date,
    "number": _number,
    "numbers": _numbers,
    "record": _record,
    "text": _text_column,
}

# section tables
for _step in MODEL["steps"] + [_axis for _pair in MODEL["pairs"] for _axis in _pair["axes"]]:
# section category tables
    if _step["kind"] == "category":
        _step["levels"] = dict(_step["levels"])
        _step["numbers"] = dict(_step["numbers"])
# section text tables
    if _step["kind"] == "text":
        _step["terms"] = {term: index for index, term in enumerate(_step["terms"])}
        _step["stop_words"] = frozenset(_step["stop_words"])
# end of section
    if _step["kind"] != "record":
        continue
# section record tables
    _step["numbers"] = dict(_step["numbers"])
    _step["levels"] = {key: dict(texts) for key, texts in _step["levels"]}
# section weights
_WEIGHTS = dict(zip(MODEL["places"] or range(len(MODEL["weights"])), MODEL["weights"]))

# section main


def _put(cells, index, value):
    if index is not None and index >= 0:
        cells[index] = cells.get(index, 0.0) + value


def _pair(pair, values, cells):
    """Add the products of the numbers of two columns."""
    parts = ({}, {})
    for axis, column, part in zip(pair["axes"], pair["columns"], parts):
        _STEPS[axis["kind"]](axis, values[column], part)
    for i, first in parts[0].items():
        for j, second in parts[1].items():
            _put(cells, pair["start"] + i * pair["width"] + j, first * second)


def _row(row):
    """Return the values of a row in the order of COLUMNS."""
    if hasattr(row, "keys"):
        for name in COLUMNS:
            if name not in row.keys():
                raise ValueError("The row lacks the column %r." % (name,))
        return [row[name] for name in COLUMNS]
    if isinstance(row, str) or len(row) != len(COLUMNS):
        raise ValueError("Expected a dict, or %d values in the order of COLUMNS." % len(COLUMNS))
    return list(row)


def encode(row):
    """Return the numbers that the weights are for: a dict of place to value."""
    cells = {}
    if MODEL["takes"] == "columns":
        values = _row(row)
        for step, value in zip(MODEL["steps"], values):
            _STEPS[step["kind"]](step, value, cells)
        for pair in MODEL["pairs"]:
            _pair(pair, values, cells)
    else:
        step = MODEL["steps"][0]
        _STEPS[step["kind"]](step, _row(row) if MODEL["takes"] == "numbers" else row, cells)
    return cells


def scores(row):
    """Return the scores of a row: w.x + b, one for two classes, one a class for more."""
    totals = list(MODEL["base"])
    threshold = MODEL["threshold"]
    for index, value in sorted(encode(row).items()):
        if math.isinf(value) or value != value:
            raise ValueError("A value is too large for float64.")
        if threshold is not None:
            value = float(value > threshold) - float(0.0 > threshold)
        for k, weight in enumerate(_WEIGHTS.get(index, ())):
            totals[k] += weight * value
    if any(math.isinf(total) or total != total for total in totals):
        raise ValueError("The score is too large for float64.")
    return totals


def predict(row):
    """Return the class of a row, or in regression its number, or a list of numbers."""
    values = scores(row)
    if MODEL["output_range"] is not None:
        low, high = MODEL["output_range"]
        values = [min(max(math.exp(min(s, math.log(high))), low), high) for s in values]
    if CLASSES is None:
        return values[0] if len(values) == 1 else values
    if len(CLASSES) == 2:
        return CLASSES[values[0] > MODEL["score_threshold"]]
    return CLASSES[values.index(max(values))]


# section probabilities


def _softmax(scores):
    top = max(scores)
    exponentials = [math.exp(score - top) for score in scores]
    return [probability / math.fsum(exponentials) for probability in exponentials]


def probabilities(row):
    """Return the probability of each of CLASSES."""
    values = scores(row)
    if MODEL["calibration"] is not None:
        values = [slope * s + offset for s, (slope, offset) in zip(values, MODEL["calibration"])]
    if len(CLASSES) == 1:
        return [1.0]
    if len(CLASSES) == 2:
        small = math.exp(-abs(values[0]))
        less, more = small / (1.0 + small), 1.0 / (1.0 + small)
        return [less, more] if values[0] >= 0 else [more, less]
    if MODEL["probabilities"] == "logistic":
        values = [min(s, 0.0) - math.log1p(math.exp(-abs(s))) for s in values]
    return _softmax(values)


# section self test


def self_test():
    """Return what differs from what the model said when it was exported: nothing, it is hoped."""
    wrong = []
    for number, test in enumerate(TESTS):
        row = dict(test["row"]) if MODEL["takes"] == "record" else test["row"]
        actual, said = scores(row), predict(row)
        for score, expected, size in zip(actual, test["scores"], test["sizes"]):
            if not abs(score - expected) <= PRECISION * size:
                wrong.append("row %d: the score is %r, not %r" % (number, score, expected))
        if CLASSES is not None and said != test["prediction"]:
            wrong.append("row %d: the prediction is %r, not %r" % (number, said, test["prediction"]))
        if MODEL["output_range"] is not None and not (
            abs(said - test["prediction"]) <= 2 * PRECISION * (1.0 + test["sizes"][0]) * said
        ):
            wrong.append("row %d: the prediction is %r, not %r" % (number, said, test["prediction"]))
        if test["probabilities"] is not None:
            for probability, expected in zip(probabilities(row), test["probabilities"]):
                if not abs(probability - expected) <= 1e-9 * (1.0 + max(test["sizes"])):
                    wrong.append("row %d: a probability is %r, not %r" % (number, probability, expected))
    return wrong


if __name__ == "__main__":
    problems = self_test()
    for problem in problems:
        print(problem)
    print("%d test rows: %s" % (len(TESTS), "FAILED" if problems else "all as expected"))
    raise SystemExit(1 if problems else 0)
