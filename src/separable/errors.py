"""Errors and messages as objects, spelled once for Python and once for the command line.

A message that advises an option has it as an `Option`, not as text: ``str`` spells it for Python,
and the command line asks for its own spelling. Nothing rewrites a text.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

__all__ = [
    "Absent",
    "InputError",
    "Message",
    "Option",
    "OptionError",
    "Spelling",
    "by_spelling",
    "require_packages",
    "spelled",
]

#: Where a message is read: after `separable.data.read`, `separable.train` or a command.
Spelling: TypeAlias = Literal["python", "train", "command"]

#: Options of `separable.data.read` with another name elsewhere.
_RENAMED = {("on_error", "skip"): ("skip_bad_lines", True)}

#: Options with named numbers, which a command has in one word: fp=1,fn=20.
_JOINED = ("cost", "class_weight")


@dataclass(frozen=True, slots=True)
class Option:
    """An option in a message: ``header=False`` in Python, ``--no-header`` on the command line.

    Parameters
    ----------
    name : str
        As in Python.
    value : object
        ``...`` stands for any value; without a value only the name is written.

    Examples
    --------
    >>> Option("header", False).spelled("command"), str(Option("header", False))
    ('--no-header', 'header=False')
    >>> Option("column_types", {"zip": "category"}).spelled("command")
    '--category zip'
    """

    name: str
    value: Any = None

    def spelled(self, spelling: Spelling) -> str:
        """Return the option as it is written there."""
        if spelling == "python":
            return self._in_python()
        if self.name == "column_types":
            ((column, kind),) = self.value.items()
            return Option(kind, column).spelled(spelling)
        if self.name == "models":
            return Option("model", self.value).spelled(spelling)
        name, value = _RENAMED.get((self.name, str(self.value)), (self.name, self.value))
        own = Option(name, value)
        return own._in_python() if spelling == "train" else own._on_command_line()

    def _in_python(self) -> str:
        if self.value is None:
            return self.name
        value = "..." if self.value is ... else repr(self.value).replace("Ellipsis", "...")
        return f"{self.name}={value}"

    def _on_command_line(self) -> str:
        name = self.name.replace("_", "-")
        if isinstance(self.value, bool):
            return f"--{name}" if self.value else f"--no-{name}"
        if self.value is None or self.value is ...:
            return f"--{name}"
        if isinstance(self.value, dict) and self.name in _JOINED:
            joined = ",".join(_setting(*one) for one in self.value.items())
            return f"--{name} {shlex.quote(joined)}"
        if isinstance(self.value, dict):
            return " ".join(f"--{name} {shlex.quote(_setting(*one))}" for one in self.value.items())
        values = self.value if isinstance(self.value, (list, tuple)) else [self.value]
        return " ".join(f"--{name} {shlex.quote(str(value))}" for value in values)

    def __str__(self) -> str:
        return self.spelled("python")


def _setting(name: str, value: Any) -> str:
    """Return a parameter of a learner as the command line has it: C=1."""
    if value is ...:
        return name
    text = str(value)
    return f"{name}={text.lower() if value is None or isinstance(value, bool) else text}"


@dataclass(frozen=True, slots=True)
class _BySpelling:
    """A phrase that differs between Python and the command line."""

    python: str
    command: str

    def spelled(self, spelling: Spelling) -> str:
        return self.command if spelling == "command" else self.python

    def __str__(self) -> str:
        return self.python


def by_spelling(python: str, command: str) -> _BySpelling:
    """Return a part of a message with other words on the command line."""
    return _BySpelling(python, command)


@dataclass(frozen=True)
class Absent:
    """An absent part of a result, such as a section of a report.

    Parameters
    ----------
    reason : str
        The reason, in a sentence for the reader.
    """

    reason: str


#: A part of a message. A message within a message keeps its options.
Part: TypeAlias = "str | Option | _BySpelling | Message | InputError"


def spelled(parts: Iterable[object], spelling: Spelling) -> str:
    """Return parts of a message as one text."""
    return "".join(
        part.spelled(spelling) if hasattr(part, "spelled") else str(part) for part in parts
    )


class Message:
    """A note or a warning with options as objects.

    Parameters
    ----------
    *parts : str, Option, Message or InputError

    Examples
    --------
    >>> note = Message("Taken as classes. For regression use ", Option("task", "regression"), ".")
    >>> print(note)
    Taken as classes. For regression use task='regression'.
    >>> print(note.spelled("command"))
    Taken as classes. For regression use --task regression.
    """

    __slots__ = ("parts",)

    def __init__(self, *parts: Part) -> None:
        self.parts = parts

    def spelled(self, spelling: Spelling) -> str:
        """Return the text with options as they are written there."""
        return spelled(self.parts, spelling)

    def __str__(self) -> str:
        return self.spelled("train")

    def __repr__(self) -> str:
        return f"Message({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.spelled("python") == other.spelled("python")

    def __hash__(self) -> int:
        return hash(self.spelled("python"))


class InputError(ValueError):
    """An error in what the user gave: where, what, and the remedy.

    Parameters
    ----------
    *problem : str, Option, Message or InputError
        The problem and its remedy.
    file : str, optional
        The file.
    line, position : int, optional
        The line of the file and the byte on it, both counted from 1.
    row : int, optional
        The row of the table, counted from 0.
    column : str, optional
    value : object, optional
        What was found there.

    Examples
    --------
    >>> place = {"file": "a.csv", "line": 3, "position": 5, "column": "day"}
    >>> error = InputError("not a date. Correct it.", **place)
    >>> print(error)
    a.csv:3:5: column 'day': not a date. Correct it.
    >>> error.line, error.column
    (3, 'day')
    """

    #: How `str` spells options; the call that raises it to the user decides.
    spelling: Spelling = "python"

    def __init__(
        self,
        *problem: Part,
        file: str | None = None,
        line: int | None = None,
        position: int | None = None,
        row: int | None = None,
        column: str | None = None,
        value: Any = None,
    ) -> None:
        super().__init__(*problem)
        self.file, self.line, self.position = file, line, position
        self.row, self.column, self.value = row, column, value

    @property
    def problem(self) -> Message:
        """The problem and its remedy, without the place."""
        return Message(*self.args)

    @property
    def place(self) -> str:
        """Where it is: file, line and column as editors and compilers write them."""
        column = "" if self.column is None else f"column {self.column!r}"
        if self.file is None:
            row = "" if self.row is None else f"row {self.row}"
            place = ", ".join(filter(None, (column, row)))
            return place[:1].upper() + place[1:]
        if self.line is not None:
            at = "" if self.position is None else f":{self.position}"
            return ": ".join(filter(None, (f"{self.file}:{self.line}{at}", column)))
        row = "" if self.row is None else f"data row {self.row + 1}"
        return ": ".join(filter(None, (self.file, ", ".join(filter(None, (row, column))))))

    def spelled(self, spelling: Spelling) -> str:
        """Return the text with options as they are written there."""
        place, problem = self.place, spelled(self.args, spelling)
        return f"{place}: {problem}" if place else problem

    def at(self, **place: Any) -> Self:
        """Return the same error with more about its place."""
        error = self.with_problem(*self.args)
        vars(error).update(place)
        return error

    def with_problem(self, *problem: Part) -> Self:
        """Return an error of the same kind and place with another problem."""
        error: Self = _rebuilt(type(self), problem, vars(self))  # type: ignore[assignment]
        return error

    def __str__(self) -> str:
        return self.spelled(self.spelling)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.args, vars(self))


def _rebuilt(
    kind: type[InputError], problem: tuple[Part, ...], state: dict[str, Any]
) -> InputError:
    """Return an error that was pickled, whatever its class takes."""
    error = kind.__new__(kind, *problem)
    error.args = problem
    vars(error).update(state)
    return error


class OptionError(InputError):
    """Options that are wrong or exclude each other."""


def require_packages(purpose: str, **packages: str) -> None:
    """Raise ImportError if an optional package is not installed.

    The message names the packages themselves, not an extra of this distribution: the command in it
    works whether or not the distribution is on an index.

    Parameters
    ----------
    purpose : str
        What needs them, as the subject of the message: "A report".
    **packages : str
        The name on the package index for each module: ``python_calamine="python-calamine"``.

    Examples
    --------
    >>> require_packages("Arithmetic", math="math")
    >>> require_packages("A report", not_there="not-there")
    Traceback (most recent call last):
    ImportError: A report needs not-there, which is not installed. Run: pip install not-there
    """
    missing = [package for module, package in packages.items() if find_spec(module) is None]
    if not missing:
        return
    verb = "is" if len(missing) == 1 else "are"
    raise ImportError(
        f"{purpose} needs {' and '.join(missing)}, which {verb} not installed. "
        f"Run: pip install {' '.join(missing)}"
    )
