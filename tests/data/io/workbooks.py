"""Workbooks of Excel written by hand: the XML of ECMA-376, without a library."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from xml.sax.saxutils import escape, quoteattr

_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
#: Cell formats 1 and 2: a date and a date with its time.
_STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/>'
    '<xf numFmtId="22" applyNumberFormat="1"/></cellXfs></styleSheet>'
)


def workbook(sheets: dict[str, list[list[object]]], hidden: tuple[str, ...] = ()) -> bytes:
    """Return a workbook; None is no cell, "#N/A" an error."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", _TYPES)
        file.writestr("_rels/.rels", _relations({"rId1": ("officeDocument", "xl/workbook.xml")}))
        listed = "".join(
            f'<sheet name={quoteattr(name)} sheetId="{k}" r:id="rId{k}"'
            f"{' state=' + quoteattr('hidden') if name in hidden else ''}/>"
            for k, name in enumerate(sheets, start=1)
        )
        parts = {f"rId{k}": ("worksheet", f"sheet{k}.xml") for k in range(1, len(sheets) + 1)}
        parts["rId0"] = ("styles", "styles.xml")
        file.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        )
        file.writestr("xl/_rels/workbook.xml.rels", _relations(parts))
        file.writestr("xl/styles.xml", _STYLES)
        for k, rows in enumerate(sheets.values(), start=1):
            file.writestr(f"xl/sheet{k}.xml", _sheet(rows))
    return out.getvalue()


def _relations(parts: dict[str, tuple[str, str]]) -> str:
    each = (
        f'<Relationship Id="{key}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for key, (kind, target) in parts.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}">{"".join(each)}</Relationships>'


def _sheet(rows: list[list[object]]) -> str:
    lines = (
        f'<row r="{r}">{"".join(_cell(v, f"{_letters(c)}{r}") for c, v in enumerate(row))}</row>'
        for r, row in enumerate(rows, start=1)
    )
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def _letters(column: int) -> str:
    return (chr(64 + column // 26) if column >= 26 else "") + chr(65 + column % 26)


def _cell(value: object, at: str) -> str:
    if value is None:
        return ""
    if value == "#N/A":
        return f'<c r="{at}" t="e"><v>#N/A</v></c>'
    if isinstance(value, bool):
        return f'<c r="{at}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c r="{at}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    if isinstance(value, dt.datetime):
        days = (value - dt.datetime(1899, 12, 30)) / dt.timedelta(days=1)
        return f'<c r="{at}" s="2"><v>{days!r}</v></c>'
    if isinstance(value, dt.date):
        return f'<c r="{at}" s="1"><v>{(value - dt.date(1899, 12, 30)).days}</v></c>'
    return f'<c r="{at}"><v>{value!r}</v></c>'
