"""Spam from raw e-mail: what a message says (words) beside how it is built (sender, links, HTML).

    python examples/spam_from_mail.py FOLDER     folders of messages, one named ham, one spam
    python examples/spam_from_mail.py            the SpamAssassin corpus in $SEPARABLE_DATA

Each message becomes one record of raw columns; ``TableClassifier`` encodes and learns, and answers
in the same columns.
"""

from __future__ import annotations

import email.policy
import html
import math
import os
import re
import sys
from email.parser import BytesParser
from email.utils import getaddresses, parseaddr
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from separable import TableClassifier, TableEncoder
from separable.data import read

if TYPE_CHECKING:
    from collections.abc import Sequence
    from email.message import EmailMessage

_LINK = re.compile(r"https?://|www\.", re.I)
_TAG = re.compile(r"<(style|script)\b.*?</\1>|<[^>]*>", re.I | re.S)
_NUMERIC_LINK = re.compile(r"https?://\d+\.\d+\.\d+\.\d+", re.I)


def describe(raw: bytes) -> dict[str, Any]:
    """Return the raw columns of one message: two texts, and how it is built.

    Counts, which range from 0 to thousands, are given as log2(1 + count).
    """
    message: EmailMessage = BytesParser(policy=email.policy.compat32).parsebytes(raw)  # type: ignore[assignment]
    plain, marked_up = _bodies(message)
    body = plain or html.unescape(_TAG.sub(" ", marked_up))
    everything = plain + marked_up
    subject = _header(message, "Subject")
    letters = [character for character in subject if character.isalpha()]
    sender = parseaddr(_header(message, "From"))[1].lower()
    reply = parseaddr(_header(message, "Reply-To"))[1].lower()
    addressed = getaddresses([_header(message, "To"), _header(message, "Cc")])
    return {
        "subject": subject,
        "body": body,
        "sender_ending": sender.rpartition(".")[2][:10] or None,
        "sender_digits": sum(character.isdigit() for character in sender.partition("@")[0]),
        "reply_to_other": bool(reply) and reply != sender,
        "recipients": _log(sum(1 for _, address in addressed if address)),
        "is_reply": message["In-Reply-To"] is not None or message["References"] is not None,
        "content_type": message.get_content_type(),
        "parts": sum(1 for _ in message.walk()),
        "has_html": bool(marked_up),
        "links": _log(len(_LINK.findall(everything))),
        "numeric_links": _log(len(_NUMERIC_LINK.findall(everything))),
        "images": _log(marked_up.lower().count("<img")),
        "forms": _log(marked_up.lower().count("<form")),
        "exclamations": _log(everything.count("!")),
        "dollars": _log(everything.count("$")),
        "length": _log(len(body)),
        "subject_capitals": sum(map(str.isupper, letters)) / len(letters) if letters else 0.0,
    }


def _log(count: int) -> float:
    return math.log2(1 + count)


def _header(message: EmailMessage, name: str) -> str:
    return " ".join(str(message.get(name, "")).split())


def _bodies(message: EmailMessage) -> tuple[str, str]:
    """Return the plain text and the HTML of all parts."""
    found = {"text/plain": "", "text/html": ""}
    for part in message.walk():
        kind = part.get_content_type()
        content = part.get_payload(decode=True) if kind in found else None
        if isinstance(content, bytes):
            found[kind] += content.decode("latin-1") + "\n"
    return found["text/plain"], found["text/html"]


def read_folder(folder: Path) -> tuple[list[bytes], list[str]]:
    """Return all messages below a folder; the label is the name of a folder above each."""
    messages, labels = [], []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        label = next((part for part in reversed(path.parts) if part in ("ham", "spam")), None)
        if label is not None:
            messages.append(path.read_bytes())
            labels.append(label)
    if len(set(labels)) < 2:
        raise SystemExit(f"{folder}: needs messages below a folder 'ham' and below one 'spam'.")
    return messages, labels


def read_corpus() -> tuple[list[bytes], list[str]]:
    """Return the messages of the SpamAssassin corpus."""
    path = Path(os.environ.get("SEPARABLE_DATA", "")) / "spamassassin" / "spamassassin.parquet"
    if not path.is_file():
        raise SystemExit("Give a folder of messages, or set SEPARABLE_DATA (spamassassin/).")
    table = read(path).table
    texts, labels = table["text"].to_pylist(), table["label"].to_pylist()
    return [text.encode("latin-1") for text in texts], labels


def main(arguments: Sequence[str]) -> None:
    """Learn from four messages in five, test on the fifth, and explain one that was caught."""
    messages, labels = read_folder(Path(arguments[0])) if arguments else read_corpus()
    records = [describe(message) for message in messages]
    target = np.array(labels)
    order = np.random.default_rng(0).permutation(len(records))
    test, train = np.split(order, [len(order) // 5])
    content = ("subject", "body")
    views = {
        "content, words": [{name: one[name] for name in content} for one in records],
        "structure": [{k: v for k, v in one.items() if k not in content} for one in records],
        "both": records,
    }
    for name, view in views.items():
        texts = [column for column in content if column in view[0]]
        classifier = TableClassifier(encoder=TableEncoder(text=texts))
        classifier.fit([view[i] for i in train], target[train])
        predicted = classifier.predict([view[i] for i in test])
        wrong = float(np.mean(predicted != target[test]))
        blocked = float(np.mean(predicted[target[test] == "ham"] == "spam"))
        print(f"{name:15s} error {wrong:.2%}, ham taken for spam {blocked:.2%}")
    caught = next(i for i, said in zip(test, predicted, strict=True) if said == target[i] == "spam")
    print()
    print(classifier.explain([records[caught]]))


if __name__ == "__main__":
    main(sys.argv[1:])
