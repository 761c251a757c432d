"""What EVALB is told by a parameter file: which labels are left out and which count as equal."""

from __future__ import annotations

import os
from dataclasses import dataclass

from latentgram.errors import DataError


@dataclass(frozen=True)
class BracketingRules:
    """The rules of a bracketing score, with EVALB's names for them in parameter files.

    `delete` (DELETE_LABEL): a tag in it takes its word out, a label in it only its bracket; labels are cut at the
    first `-` or `=` before they are looked up, tags are not. `delete_for_length` (DELETE_LABEL_FOR_LENGTH): tags
    whose words do not count in the length of a sentence. `equal_labels`, `equal_words` (EQ_LABEL, EQ_WORD): pairs
    that match each other. `quotes` (QUOTE_LABEL): tags of `'`, `"` and `/` that are put back when only one side
    deleted them. `cutoff` (CUTOFF_LEN): the length up to which a sentence counts as short. `labelled` (LABELED).

    `collapse_unaries` is not EVALB's: of a chain X → X → …, the papers on GENIA count one bracket only.
    """

    delete: tuple[str, ...] = ()
    delete_for_length: tuple[str, ...] = ()
    equal_labels: tuple[tuple[str, str], ...] = ()
    equal_words: tuple[tuple[str, str], ...] = ()
    quotes: tuple[str, ...] = ()
    cutoff: int = 40
    labelled: bool = True
    collapse_unaries: bool = False


COLLINS = BracketingRules(
    delete=("TOP", "-NONE-", ",", ":", "``", "''", "."),
    delete_for_length=("-NONE-",),
    equal_labels=(("ADVP", "PRT"),),
)
"""The rules of EVALB's COLLINS.prm, by which parsers of the Penn Treebank are compared."""

_LISTS = {"DELETE_LABEL": "delete", "DELETE_LABEL_FOR_LENGTH": "delete_for_length", "QUOTE_LABEL": "quotes"}
_PAIRS = {"EQ_LABEL": "equal_labels", "EQ_WORD": "equal_words"}
_NUMBERS = {"CUTOFF_LEN": "cutoff", "LABELED": "labelled"}
_WITHOUT_EFFECT = {"DEBUG", "MAX_ERROR"}


def read_rules(path: str | os.PathLike[str]) -> BracketingRules:
    """The rules in a parameter file of EVALB. `DEBUG` and `MAX_ERROR` are understood and have no effect."""
    try:
        with open(path, encoding="utf-8") as file:
            return parse_rules(file.read(), path)
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror})", path=path) from error
    except UnicodeDecodeError as error:
        raise DataError("this is not UTF-8 text, so no parameter file", path=path) from error


def parse_rules(text: str, path: str | os.PathLike[str] | None = None) -> BracketingRules:
    """The rules in the text of a parameter file.

    >>> parse_rules("# comment\\nDELETE_LABEL TOP\\nEQ_LABEL ADVP PRT\\nCUTOFF_LEN 10\\n")
    BracketingRules(delete=('TOP',), ..., equal_labels=(('ADVP', 'PRT'),), ..., cutoff=10, ...)
    """
    lists: dict[str, list[str]] = {name: [] for name in _LISTS.values()}
    pairs: dict[str, list[tuple[str, str]]] = {name: [] for name in _PAIRS.values()}
    numbers: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        key, *values = line.split()
        wanted = 2 if key in _PAIRS else 1
        if key not in {*_LISTS, *_PAIRS, *_NUMBERS, *_WITHOUT_EFFECT}:
            raise DataError(f"{key} is no EVALB parameter", path=path, line=number)
        if len(values) != wanted:
            wish = "one value" if wanted == 1 else "two values"
            raise DataError(f"{key} takes {wish}, got {len(values)}", path=path, line=number)
        if key in _LISTS:
            lists[_LISTS[key]].append(values[0])
        elif key in _PAIRS:
            pairs[_PAIRS[key]].append((values[0], values[1]))
        elif key in _NUMBERS:
            if not values[0].isdigit():
                raise DataError(f"{key} must be a whole number, got {values[0]}", path=path, line=number)
            numbers[_NUMBERS[key]] = int(values[0])
    return BracketingRules(
        delete=tuple(lists["delete"]),
        delete_for_length=tuple(lists["delete_for_length"]),
        quotes=tuple(lists["quotes"]),
        equal_labels=tuple(pairs["equal_labels"]),
        equal_words=tuple(pairs["equal_words"]),
        cutoff=numbers.get("cutoff", 40),
        labelled=bool(numbers.get("labelled", 1)),
    )
