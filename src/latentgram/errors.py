"""Every error this library raises on purpose: what is wrong, where, and what to do."""

from __future__ import annotations

import os

LONGEST = 1000
"""Characters of a message: what it quotes from a file may be of any length."""
MOST_LISTED = 1_000_000
"""The longest list of trees or tags that can be asked for of one sentence."""
MOST_DRAWN = 10_000_000
"""The most sentences that can be drawn from a model at once: all are kept in memory."""


class LatentgramError(Exception):
    """Base of all errors raised on purpose; the command line prints it as one line and exits with 1.

    >>> import latentgram as lg
    >>> try:
    ...     lg.parse_tree("(S (NN a)")
    ... except lg.LatentgramError as error:
    ...     print(error)
    1:1: the tree that begins here is never closed
    """


class DataError(LatentgramError):
    """Input that cannot be read or is inconsistent, with its file and line.

    >>> str(DataError("a bracket is never closed", path="a.mrg", line=3, column=7))
    'a.mrg:3:7: a bracket is never closed'
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | os.PathLike[str] | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.message = message if len(message) <= LONGEST else f"{message[:LONGEST]}…"
        self.path = None if path is None else os.fspath(path)
        self.line = line
        self.column = column
        place = ":".join(str(part) for part in (self.path, line, column) if part is not None)
        super().__init__(f"{place}: {self.message}" if place else self.message)

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the way back from a worker process."""
        return (_rebuild_data_error, (self.message, self.path, self.line, self.column))


def _rebuild_data_error(message: str, path: str | None, line: int | None, column: int | None) -> DataError:
    return DataError(message, path=path, line=line, column=column)


class ModelFileError(LatentgramError):
    """A model file is damaged, in an unknown format, newer than this library, or of an unexpected kind."""


class SettingError(LatentgramError, ValueError):
    """A hyper-parameter is unknown, out of its range, or has no meaning for the model."""


def check_number(what: str, number: int, most: int) -> None:
    """Refuse to make fewer than one of something, or more than `most`.

    >>> import latentgram as lg
    >>> lg.demo_treebank(0)
    Traceback (most recent call last):
    latentgram.errors.SettingError: the number of sentences must be at least 1 and at most 1000000, got 0
    """
    if not 1 <= number <= most:
        raise SettingError(f"the number of {what} must be at least 1 and at most {most}, got {number}")


class RankError(LatentgramError):
    """The rank of a statistic is too small for the requested number of hidden states."""


class NoParse(LatentgramError):
    """A sentence has no parse, and an error was requested instead of a fallback tree."""


class UnsupportedPair(LatentgramError):
    """There is no recipe for this model and learner."""


class ClusterError(LatentgramError):
    """A cluster cannot be reached, has disappeared, or cannot do the work."""


def a_or_an(kind: str) -> str:
    """The kind with its article, by how the word or abbreviation is spoken.

    >>> a_or_an("SHAG"), a_or_an("LPCFG"), a_or_an("Tagger"), a_or_an("Alphabet")
    ('a SHAG', 'an LPCFG', 'a Tagger', 'an Alphabet')
    """
    spelled = len(kind) > 1 and kind[:2].isupper() and not set(kind[:3]) & set("AEIOU")
    return f"{'an' if kind[:1].upper() in 'AEIO' or (spelled and kind[0] in 'FHLMNRSX') else 'a'} {kind}"
