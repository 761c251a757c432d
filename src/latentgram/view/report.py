"""A report: one HTML page that contains its pictures and loads nothing from the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 ui-sans-serif,system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:1rem 0}
td,th{padding:.25rem .9rem;border-bottom:1px solid #8886;text-align:right}
td:first-child,th:first-child{text-align:left}
figure{margin:1.5rem 0;padding:1rem;border:1px solid #8884;border-radius:.5rem;overflow-x:auto}
figcaption{margin-bottom:.5rem}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}
pre{overflow-x:auto;padding:.75rem;background:#8881;border-radius:.5rem}
"""


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with its head.

    >>> html_table(("a",), [("<1>",)])
    "<table><thead><tr><th scope='col'>a</th></tr></thead><tbody><tr><td>&lt;1&gt;</td></tr></tbody></table>"
    """
    top = "".join(f"<th scope='col'>{escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


@dataclass
class Report:
    """Parts of a page, in the order in which they are added.

    >>> report = Report("Demo")
    >>> report.text("Two <trees>.")
    >>> report.table(("decoder", "F1"), [("viterbi", "80.1")])
    >>> "Two &lt;trees&gt;." in report.html() and "<td>80.1</td>" in report.html()
    True
    """

    title: str
    _parts: list[str] = field(default_factory=list)

    def heading(self, content: str) -> None:
        """A heading."""
        self._parts.append(f"<h2>{escape(content)}</h2>")

    def text(self, content: str) -> None:
        """A paragraph."""
        self._parts.append(f"<p>{escape(content)}</p>")

    def code(self, content: str) -> None:
        """Something to type or to read in fixed width."""
        self._parts.append(f"<pre>{escape(content)}</pre>")

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table with its head."""
        self._parts.append(html_table(head, rows))

    def picture(self, svg: str, caption: str) -> None:
        """An SVG drawing with a caption."""
        self._parts.append(f"<figure><figcaption>{escape(caption)}</figcaption>{svg}</figure>")

    def html(self) -> str:
        """The page."""
        return (
            f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{escape(self.title)}</title>"
            f"<meta name='viewport' content='width=device-width'><style>{_STYLE}</style></head>"
            f"<body><h1>{escape(self.title)}</h1>{''.join(self._parts)}</body></html>\n"
        )
