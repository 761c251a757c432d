"""Errors of a request or a file in plain words: the validator of requests speaks of schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TypedDict

from latentgram.errors import DataError, LatentgramError


def in_words(error: LatentgramError) -> str:
    """What went wrong, and in which line of which file; where that is on the disk is nothing for the network.

    >>> in_words(DataError("a bracket is never closed", path="/home/ana/my.mrg", line=3, column=7))
    'a bracket is never closed (my.mrg, line 3)'
    """
    if not isinstance(error, DataError):
        return str(error)
    if error.path is None:
        return error.message
    line = "" if error.line is None else f", line {error.line}"
    return f"{error.message} ({PurePath(error.path).name}{line})"


class Fault(TypedDict):
    """What the checker says of one place."""

    type: str
    loc: Sequence[str | int]
    ctx: Mapping[str, object]


_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "string_pattern_mismatch": "has characters that may not stand there",
    "string_too_short": "is too short",
    "string_too_long": "is longer than {max_length} characters",
    "too_short": "has fewer than {min_length} items",
    "too_long": "has more than {max_length} items",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "list_type": "must be a list",
    "dict_type": "must be an object",
}


def told(fault: Fault) -> str:
    """One sentence of a fault; places in lists are counted from 1.

    >>> told({"type": "less_than_equal", "loc": ("body", "count"), "ctx": {"le": 20}})
    'count must be at most 20'
    >>> told({"type": "string_pattern_mismatch", "loc": ("body", "words", 2), "ctx": {"pattern": "^[a-z]$"}})
    'words 3 has characters that may not stand there'
    >>> told({"type": "int_parsing", "loc": ("query", "limit"), "ctx": {}})
    'limit must be a whole number'
    """
    steps = fault["loc"][1:] if fault["loc"][:1] in (("body",), ("query",)) else fault["loc"]
    # Where several forms are possible their schemas stand among the steps.
    named = [
        str(step + 1) if isinstance(step, int) else step
        for step in steps
        if isinstance(step, int) or step.isidentifier()
    ]
    words = _WORDS.get(fault["type"], "is not of a form that is understood there")
    return f"{' '.join(named) or 'the request'} {words.format_map(fault.get('ctx') or {})}"
