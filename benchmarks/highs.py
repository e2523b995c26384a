"""HiGHS, through SciPy, asked whether data is separable: four linear programs, two methods.

With rows z_i = y_i (x_i, 1):

    "direction"    find u with Z u >= 1;                                 feasible: separable
    "hulls"        find a >= 0 with Z'a = 0 and sum a = 1;               infeasible: separable
    "cancel"       find a >= 1 with Z'a = 0;                             feasible: overlap
    "count"        maximise sum t subject to 0 <= t <= 1 and t <= Z u;   tells the kind, always

Each runs in a process of its own, which is ended at the limit: HiGHS looks at its clock too seldom.
"""

from __future__ import annotations

import multiprocessing
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from numpy.typing import NDArray

__all__ = ["METHODS", "PROGRAMS", "Answer", "ask"]

METHODS = ("highs-ds", "highs-ipm")


@dataclass(frozen=True)
class Answer:
    """What HiGHS said.

    Parameters
    ----------
    name : str
        Program and method.
    kind : str or None
        "separable", "overlap" or "quasi-separable"; "not separable" and "not overlap" leave two of
        them. None: nothing within the limit.
    seconds, cpu_seconds : float
        Wall and processor time; both the limit where there is no answer.
    """

    name: str
    kind: str | None
    seconds: float
    cpu_seconds: float


def _direction(Z: Any, method: str) -> str | None:
    n, d = Z.shape
    found = linprog(np.zeros(d), A_ub=-Z, b_ub=-np.ones(n), bounds=(None, None), method=method)
    return {0: "separable", 2: "not separable"}.get(found.status)


def _hulls(Z: Any, method: str) -> str | None:
    n, d = Z.shape
    rows = sp.vstack([Z.T, np.ones((1, n))]).tocsr()
    found = linprog(np.zeros(n), A_eq=rows, b_eq=np.r_[np.zeros(d), 1], method=method)
    return {0: "not separable", 2: "separable"}.get(found.status)


def _cancel(Z: Any, method: str) -> str | None:
    n, d = Z.shape
    found = linprog(np.zeros(n), A_eq=Z.T, b_eq=np.zeros(d), bounds=(1, None), method=method)
    return {0: "overlap", 2: "not overlap"}.get(found.status)


def _count(Z: Any, method: str) -> str | None:
    n, d = Z.shape
    found = linprog(
        -np.r_[np.zeros(d), np.ones(n)],
        A_ub=sp.hstack([-Z, sp.eye_array(n)]).tocsr(),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * d + [(0, 1)] * n,
        method=method,
    )
    if found.status != 0:
        return None
    if -found.fun > n - 0.5:
        return "separable"
    return "overlap" if -found.fun < 0.5 else "quasi-separable"


PROGRAMS: dict[str, Callable[[Any, str], str | None]] = {
    "direction": _direction,
    "hulls": _hulls,
    "cancel": _cancel,
    "count": _count,
}


def ask(X: Any, y: NDArray[Any], program: str, method: str, limit: float) -> Answer:
    """Ask once; columns come brought to one scale and, without cost, as a sparse matrix."""
    Z = _signed_rows(X, y)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_tell, args=(sender, PROGRAMS[program], Z, method))
    child.start()
    sender.close()
    name = f"HiGHS {method.removeprefix('highs-')}, {program}"
    try:
        if receiver.poll(limit):
            return Answer(name, *receiver.recv())
    except EOFError:  # it ended without an answer, as for want of memory
        pass
    finally:
        child.kill()
        child.join()
    return Answer(name, None, limit, limit)


def _tell(
    sender: Connection, program: Callable[[Any, str], str | None], Z: Any, method: str
) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    kind = program(Z, method)
    sender.send((kind, time.perf_counter() - wall, time.process_time() - cpu))


def _signed_rows(X: Any, y: NDArray[Any]) -> Any:
    """Return y (x, 1) with the largest number of each column at 1."""
    X = sp.csc_array(X, dtype=np.float64)
    top = abs(X).max(axis=0).toarray().ravel()
    X = X @ sp.diags_array(1 / np.where(top > 0, top, 1))
    X = sp.hstack([X, np.ones((X.shape[0], 1))])
    return sp.csr_array(sp.diags_array(np.where(y == y.max(), 1.0, -1.0)) @ X)
