# ruff: noqa: RUF001
"""Sentences in several languages and scripts, with what is odd about their letters."""

from __future__ import annotations

__all__ = ["DESCRIPTIONS", "TEXTS"]

TEXTS = [
    "A good film, a GOOD one: don't miss it!",
    "A boring, boring film; I'd rather watch paint dry_2024.",
    "It's 10 o'clock and the film (part 2) isn't over. And it is long, long, long.",
    # final sigma by its neighbours, alone, before a mark, and in capitals
    "ΟΔΥΣΣΕΥΣ ΣΑΣ Σ και ΣΟΦΟΣ: ο Οδυσσέας, ΌΛΟΣ Ο ΚΌΣΜΟΣ' ΑΣ.ΑΣ",
    # dotted and dotless i
    "İSTANBUL'da IŞIK ılık, Iğdır çok güzel; DİYARBAKIR İ",
    "Größe STRASSE Straße ẞ äöü ÄÖÜ: die Füße der Bäume",
    "Привет МИР, мир! Ёлка и ёж ЇЖАК",
    "مرحبا بالعالم، هذا نص قصير عن فيلم جميل",
    "हिन्दी में लिखा हुआ पाठ, की फ़िल्म अच्छी है।",
    "中文 文本测试，中文的电影很好看。 日本語のテキスト カタカナ",
    "한국어 텍스트 영화는 재미있다",
    "ไทย ภาษาไทย ดี",
    "😀 emoji 👍🏽 text 1️⃣ ½ ² Ⅳ ⅷ ª",
    "e\u0301 café naïve CAFÉ Ⱥ ŁÓDŹ ﬁne Ǆ ǅ Ĳ ᏣᎳᎩ 𐐀𐐨 ℵ K Å",
    "",
    " ",
    "  \n\t tabs  and \u00a0\u00a0 nbsp \x1c x\x85y \u2003em\u2028line a\x0bb",
    "a b c d ab ba ab",
    "\x00 nul\x00nul _under __ 9 99 9_9",
]

#: Longer English texts: what scikit-learn says about its data sets.
DESCRIPTIONS: list[str] = []


def _load() -> None:
    from sklearn import datasets

    for name in ("iris", "wine", "breast_cancer", "diabetes", "digits", "linnerud"):
        text = getattr(datasets, f"load_{name}")().DESCR
        DESCRIPTIONS.extend(part for part in text.split("\n\n") if part.strip())


_load()
