"""Requests and answers, independent of the server that carries them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

__all__ = ["Answer", "Refusal", "Request", "error_body", "json_answer"]

JSON_TYPE = "application/json"


@dataclass(frozen=True)
class Request:
    """A complete request.

    Parameters
    ----------
    method, path : str
    headers : dict of str to str
        Names in lower case.
    query : dict of str to str
    body : bytes
    """

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def media_type(self) -> str:
        """The content type without parameters, JSON by default."""
        return self.headers.get("content-type", JSON_TYPE).partition(";")[0].strip().lower()


@dataclass(frozen=True)
class Answer:
    """An answer.

    Parameters
    ----------
    body : bytes
    status : int
    media_type : str
    headers : dict of str to str
        Further headers.
    """

    body: bytes
    status: int = 200
    media_type: str = JSON_TYPE
    headers: dict[str, str] = field(default_factory=dict)


class Refusal(Exception):  # noqa: N818 # the request is refused; nothing failed here
    """A request that is not answered, with the reason for the client.

    Parameters
    ----------
    status : int
    message : str
        Where, what and remedy.
    **details : object
        JSON values: row, column, value.
    """

    def __init__(self, status: int, message: str, **details: Any) -> None:
        super().__init__(message)
        self.status = status
        self.details = {name: value for name, value in details.items() if value is not None}


def json_answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """Return JSON; NaN and infinities become null."""
    return Answer(msgspec.json.encode(value), status, JSON_TYPE, headers or {})


def error_body(refusal: Refusal) -> dict[str, Any]:
    """Return the body of an error: for clients of this server, of MLflow and of Open Inference."""
    code = "BAD_REQUEST" if refusal.status < 500 else "UNAVAILABLE"
    return {"error": str(refusal), "error_code": code, "message": str(refusal)} | refusal.details
