"""L23: spam from raw e-mail, by what a message says and by how it is built."""

from __future__ import annotations

from email.message import EmailMessage
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from separable import LogisticRegression, TableClassifier, TableEncoder, load
from tests.data_files import data_file

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def example():
    """Return the module of the example, which no package holds."""
    path = Path(__file__).parents[2] / "examples" / "spam_from_mail.py"
    spec = spec_from_file_location("spam_from_mail", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def message(subject, body, page=None, **headers):
    """Return a raw message: plain text, and the same as HTML if a page is given."""
    mail = EmailMessage()
    mail["Subject"], mail["To"] = subject, headers.pop("To", "me@home.org")
    for name, value in headers.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(body)
    if page is not None:
        mail.add_alternative(page, subtype="html")
    return mail.as_bytes()


def test_what_is_seen_in_a_message(example):
    page = "<html><style>p {}</style><p>Buy &amp; win</p><img src=x><form></form></html>"
    raw = message(
        "FREE money!",
        "Click http://1.2.3.4/x or www.win.biz now!! Only $9",
        page,
        From="Rich <win2001@cash.biz>",
        Reply_To="other@cash.biz",
        To="a@home.org, b@home.org, c@home.org",
    )
    seen = example.describe(raw)
    assert seen["subject"] == "FREE money!"
    assert seen["body"].startswith("Click http://1.2.3.4/x or www.win.biz now!! Only $9")
    assert "Buy" not in seen["body"]  # plain text goes before HTML
    expected = {
        "sender_ending": "biz", "sender_digits": 4, "reply_to_other": True, "is_reply": False,
        "recipients": 2.0, "content_type": "multipart/alternative", "parts": 3, "has_html": True,
        "links": np.log2(3), "numeric_links": 1.0, "images": 1.0, "forms": 1.0,
        "exclamations": np.log2(3), "dollars": 1.0, "subject_capitals": 4 / 9,
    }  # fmt: skip
    assert {name: seen[name] for name in expected} == pytest.approx(expected)
    assert seen["length"] == pytest.approx(np.log2(1 + len(seen["body"])))


def test_html_alone_is_read_as_its_words(example):
    mail = EmailMessage()
    mail["Subject"] = "x"
    mail.set_content("<b>Buy</b> now &amp; win<script>var hidden;</script>", subtype="html")
    seen = example.describe(mail.as_bytes())
    assert seen["body"].split() == ["Buy", "now", "&", "win"]
    assert seen["content_type"] == "text/html"


@pytest.mark.parametrize("raw", [b"", b"\xff\xfe\x00", b"no header at all", b"Subject:\n\n\x00"])
def test_any_bytes_are_a_message(example, raw):
    seen = example.describe(raw)
    assert seen["sender_ending"] is None
    assert seen["subject_capitals"] == 0.0
    assert not seen["is_reply"]


@pytest.fixture(scope="module")
def mails(example):
    """Return made-up messages: the words tell spam and ham apart, and so does the HTML."""
    rng = np.random.default_rng(0)
    plain = ["the meeting moved to monday", "patch for the parser attached", "lunch at noon then"]
    loud = ["free money for you today", "buy cheap pills right now", "winner claim your prize"]
    records, labels = [], []
    for number in range(60):
        spam = number % 2 == 1
        words = " ".join(rng.permutation((loud if spam else plain)[number % 3].split()))
        page = f"<html><a href=http://{number}.biz>{words}!</a></html>" if spam else None
        sender = f"u{number}@{'cash.biz' if spam else 'home.org'}"
        headers = {} if spam else {"In_Reply_To": f"<{number}@home.org>"}
        records.append(example.describe(message(words, words, page, From=sender, **headers)))
        labels.append("spam" if spam else "ham")
    return records, np.array(labels)


def test_words_and_structure_are_learned_and_explained_in_raw_columns(mails, tmp_path):
    records, labels = mails
    encoder = TableEncoder(text=["subject", "body"])
    model = TableClassifier(LogisticRegression(), encoder).fit(records[:40], labels[:40])
    assert (model.predict(records[40:]) == labels[40:]).all()
    types = {row.column: row.type for row in model.columns_}
    assert (types["body"], types["has_html"], types["sender_ending"]) == (
        "text", "boolean", "category",
    )  # fmt: skip
    explanation = model.explain(records[41:42])
    parts = explanation.by_column()
    assert set(parts) <= set(records[0])
    total = sum(float(part[0]) for part in parts.values())
    score = float(model.decision_function(records[41:42])[0])
    assert total + explanation.intercepts("spam")[0] == pytest.approx(score, rel=1e-12)
    model.save(tmp_path / "spam.safetensors")
    again = load(tmp_path / "spam.safetensors")
    assert again.predict(records[40:]).tolist() == labels[40:].tolist()


@pytest.mark.filterwarnings(
    "ignore:The best C, .*:separable.fitting.best_candidate.GridEdgeWarning"
)
def test_a_folder_of_messages(example, tmp_path, capsys):
    for number in range(60):
        label = ("ham", "spam")[number % 2]
        (tmp_path / label).mkdir(exist_ok=True)
        text = f"{'prize money' if label == 'spam' else 'patch attached'} for you {number}"
        raw = message(text, text, From=f"u{number % 7}@b.org")
        (tmp_path / label / f"{number:02d}").write_bytes(raw)
    example.main([str(tmp_path)])
    printed = capsys.readouterr().out
    assert "content, words  error 0.00%, ham taken for spam 0.00%" in printed
    assert "both            error 0.00%, ham taken for spam 0.00%" in printed
    assert "LogisticRegressionCV predicts spam: score +" in printed
    with pytest.raises(SystemExit, match="needs messages below a folder 'ham'"):
        example.main([str(tmp_path / "ham")])


@pytest.mark.long
def test_the_spamassassin_corpus(example):
    data_file("spamassassin", "spamassassin.parquet")
    messages, labels = example.read_corpus()
    records, target = [example.describe(raw) for raw in messages], np.array(labels)
    test, train = np.split(np.random.default_rng(0).permutation(len(target)), [len(target) // 5])
    model = TableClassifier(LogisticRegression(C=100), TableEncoder(text=["subject", "body"]))
    model.fit([records[i] for i in train], target[train])
    assert 1 - model.score([records[i] for i in test], target[test]) < 0.03
