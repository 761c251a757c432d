"""Guidelines: notes on labels, from a file of headings with text below them."""

from __future__ import annotations

import re
from pathlib import Path

from latentgram.data.files import read_lines
from latentgram.errors import DataError

_HEADING = re.compile(r"^#+\s*(?P<names>\S.*?)\s*$")


def read_guidelines(path: Path) -> dict[str, str]:
    """The notes of a Markdown file by label; a heading may name several: `## NP, NML`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "guide.md")
    ...     _ = file.write_text("# NP, NML\\nNoun phrases.\\n\\n# PP\\nHigh if in doubt.\\n")
    ...     read_guidelines(file)
    {'NP': 'Noun phrases.', 'NML': 'Noun phrases.', 'PP': 'High if in doubt.'}
    """
    notes: dict[str, list[str]] = {}
    current: list[list[str]] = []
    for _, line in read_lines(path):
        heading = _HEADING.match(line)
        if heading:
            names = [name.strip() for name in heading["names"].split(",")]
            current = [notes.setdefault(name, []) for name in names]
        else:
            for lines in current:
                lines.append(line)
    if not notes:
        raise DataError("there are no headings with labels in these guidelines, such as `## NP`", path=path)
    return {name: "\n".join(lines).strip() for name, lines in notes.items()}
