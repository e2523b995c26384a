"""Draw ``architecture.svg``, the layers of the package and the path of a row: ``make pictures``.

The layers are those of the import-linter contract in ``pyproject.toml``.
"""

from __future__ import annotations

import tomllib
from html import escape
from pathlib import Path
from typing import NamedTuple

PICTURE = Path(__file__).with_name("architecture.svg")
PROJECT = Path(__file__).parents[2] / "pyproject.toml"


class Folder(NamedTuple):
    """A folder of the package: its contents in a few words, and the group it belongs to."""

    contents: str
    group: str


class Step(NamedTuple):
    """A step of a path: the folder in which it happens, and what happens."""

    folder: str
    text: str


#: Fill and border of the boxes of a group.
GROUPS = {
    "interfaces": ("#fdf1dc", "#c98a1b"),
    "learning": ("#e2f0e6", "#3c8a5c"),
    "mathematics": ("#e4ecf7", "#4470ac"),
    "prediction": ("#f0e6f4", "#85569c"),
    "compiled": ("#ececec", "#777777"),
}
FOLDERS = {
    "cli": Folder("commands, options, text output", "interfaces"),
    "workflow": Folder("train, compare, update", "interfaces"),
    "report": Folder("one self-contained HTML page", "interfaces"),
    "lab": Folder("learning step by step", "interfaces"),
    "plot": Folder("displays", "interfaces"),
    "export": Folder("Python, JS, C, SQL, ONNX", "interfaces"),
    "table": Folder("frames", "interfaces"),
    "learn": Folder("traces", "interfaces"),
    "sklearn": Folder("faces", "interfaces"),
    "serve": Folder("web API", "interfaces"),
    "mlflow": Folder("flavor", "interfaces"),
    "spark": Folder("clusters", "interfaces"),
    "select": Folder("cross-validation, search, path, curves, *CV", "learning"),
    "online": Folder("perceptrons, SGD", "learning"),
    "moments": Folder("ridge, LDA, Bayes", "learning"),
    "certified": Folder("logistic, SVM, lasso", "learning"),
    "geometry": Folder("separability with proofs, margins", "mathematics"),
    "statistics": Folder("Moments, ClassCounts: sums over rows", "mathematics"),
    "fitting": Folder("base class, targets, folds, scorers", "learning"),
    "losses": Folder("value, gradient, dual", "mathematics"),
    "penalties": Folder("conjugate, prox", "mathematics"),
    "linalg": Folder("Cholesky, least squares, exact arithmetic", "mathematics"),
    "model": Folder("LinearModel: predict, explain, metrics, files", "prediction"),
    "features": Folder("encoders of tables, text, categories", "prediction"),
    "data": Folder("readers, tables, checks, Rows", "prediction"),
    "_core": Folder("C++ kernels, one build per CPU level", "compiled"),
}
#: The colour of each path and its steps, in order.
PATHS = {
    "separable train": (
        "#b3541e",
        [
            Step("cli", "options"),
            Step("data", "read, infer types, check"),
            Step("workflow", "hold out rows"),
            Step("features", "fit the TableEncoder, encode"),
            Step("select", "cross-validate the learners"),
            Step("certified", "fit folds x C, refit the best"),
            Step("model", "evaluate held-out rows, save"),
            Step("report", "write the page"),
        ],
    ),
    "estimator.fit(X, y)": (
        "#2f7d4f",
        [
            Step("data", "X to Rows, validated"),
            Step("fitting", "targets, sample weights"),
            Step("certified", "problem, policy, solver"),
            Step("losses", "gradients, conjugates"),
            Step("_core", "passes over the rows"),
            Step("certified", "duality gap"),
            Step("model", "LinearModel with evidence"),
        ],
    ),
    "model.predict(X)": (
        "#7b3f98",
        [
            Step("model", "match columns"),
            Step("features", "encode the table"),
            Step("data", "Rows, validated"),
            Step("_core", "scores Xw + b"),
            Step("model", "probabilities, classes"),
        ],
    ),
}
#: Sizes in pixels: the margin, the column of folders, that of a path, a layer, the title row.
MARGIN, LEFT, COLUMN, ROW, TITLE = 16, 440, 222, 50, 44


def layers() -> list[list[str]]:
    """Return the folders of each layer, the highest layer first."""
    contracts = tomllib.loads(PROJECT.read_text())["tool"]["importlinter"]["contracts"]
    (found,) = [each["layers"] for each in contracts if each["type"] == "layers"]
    parts = [layer.split("|") for layer in found]
    return [[name.strip().strip("()").removeprefix("separable.") for name in row] for row in parts]


def text(x: float, y: float, words: str, **style: str) -> str:
    """Return a line of text."""
    styled = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in style.items())
    return f'<text x="{x:g}" y="{y:g}"{styled}>{escape(words)}</text>'


def boxes(row: list[str], top: float) -> list[str]:
    """Return the boxes of one layer."""
    width = (LEFT - 6 * (len(row) - 1)) / len(row)
    drawn = []
    for k, name in enumerate(row):
        x = MARGIN + k * (width + 6)
        fill, border = GROUPS[FOLDERS[name].group]
        drawn += [
            f'<rect x="{x:g}" y="{top + 3:g}" width="{width:g}" height="{ROW - 6}" rx="6" '
            f'fill="{fill}" stroke="{border}"/>',
            text(x + 10, top + 21, name, font_weight="bold", font_size="14", fill="#222"),
            text(x + 10, top + 38, FOLDERS[name].contents, font_size="12", fill="#444"),
        ]
    return drawn


def path(x: float, title: str, rows: dict[str, int]) -> list[str]:
    """Return the steps of a path, numbered, each beside the layer in which it happens."""
    colour, steps = PATHS[title]
    drawn = [text(x, MARGIN + 20, title, font_weight="bold", font_size="14", fill=colour)]
    heights = step_heights([rows[step.folder] for step in steps])
    for number, (step, y) in enumerate(zip(steps, heights, strict=True), 1):
        drawn += [
            f'<circle cx="{x + 9:g}" cy="{y:g}" r="9" fill="{colour}"/>',
            text(x + 9, y + 4, str(number), font_size="11", fill="white", text_anchor="middle"),
            text(x + 24, y + 4, step.text, font_size="12", fill="#222"),
        ]
    return drawn


def step_heights(rows: list[int]) -> list[float]:
    """Return the height at which each step is drawn: steps of one layer below each other."""
    heights = []
    for k, row in enumerate(rows):
        place = rows[:k].count(row) - (rows.count(row) - 1) / 2
        heights.append(MARGIN + TITLE + row * ROW + ROW / 2 + 22 * place)
    return heights


def draw() -> str:
    """Return the picture."""
    table = layers()
    rows = {name: k for k, row in enumerate(table) for name in row}
    width = 2 * MARGIN + LEFT + COLUMN * len(PATHS)
    height = 2 * MARGIN + TITLE + ROW * len(table)
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="Helvetica, Arial, sans-serif">',
        "<title>Layers of the package and the path of a row</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        text(MARGIN, MARGIN + 20, "Layers", font_weight="bold", font_size="14", fill="#222"),
        text(
            MARGIN + 62,
            MARGIN + 20,
            "a folder imports only from those below it",
            font_size="12",
            fill="#666",
        ),
    ]
    for k, row in enumerate(table):
        top = MARGIN + TITLE + k * ROW
        drawn.append(
            f'<line x1="{MARGIN}" y1="{top}" x2="{width - MARGIN}" y2="{top}" stroke="#e3e3e3"/>'
        )
        drawn += boxes(row, top)
    for k, title in enumerate(PATHS):
        drawn += path(MARGIN + LEFT + 22 + k * COLUMN, title, rows)
    return "\n".join([*drawn, "</svg>", ""])


def main() -> None:
    """Write the picture beside this file."""
    PICTURE.write_text(draw())


if __name__ == "__main__":
    main()
