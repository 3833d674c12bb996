"""Small HTML tables for notebooks; all text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

LEFT = ' style="text-align:left"'
MOST = 40  # rows of a table


def facts(title: str, values: Mapping[str, object]) -> str:
    """An HTML table of names and values, without empty values."""
    rows = [
        f"<tr><th{LEFT}>{escape(key)}</th><td{LEFT}>{escape(str(value))}</td></tr>"
        for key, value in values.items()
        if value not in (None, "")
    ]
    return f"<p><strong>{escape(title)}</strong></p><table>{''.join(rows)}</table>"


def grid(title: str, head: Sequence[str], rows: Iterable[Sequence[object]], most: int = MOST) -> str:
    """An HTML table with a head and at most `most` rows; "" if there are no rows."""
    lines = list(rows)
    if not lines:
        return ""
    top = "".join(f"<th{LEFT}>{escape(word)}</th>" for word in head)
    body = "".join(f"<tr>{''.join(f'<td{LEFT}>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in lines[:most])
    more = f"<p>… {len(lines) - most} more</p>" if len(lines) > most else ""
    return f"<p><strong>{escape(title)}</strong></p><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{more}"


def name_list(names: Iterable[str]) -> str:
    """Names in one line, at most MOST of them."""
    texts = list(names)
    return ", ".join(texts[:MOST]) + (f", … {len(texts) - MOST} more" if len(texts) > MOST else "")
