"""`latentgram ngram query`: probabilities of sentences, words and n-grams under a language model.

Text is read as a stream, in blocks of about a megabyte. Workers score the blocks; the output is in the order of
the text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from latentgram.cli.options import Workers, argument, command, flag, options
from latentgram.cli.tables import TableForm, write_table
from latentgram.errors import DataError, SettingError

if TYPE_CHECKING:
    from latentgram.arrays import Flags, Floats, Ints
    from latentgram.cli.tables import Form
    from latentgram.evaluate.perplexity import TextScore
    from latentgram.parallel import Engine
    from latentgram.sequences.ngram import BackoffNGram

Block = tuple[str, int, str]
"""A path, the number of the first line, and the text."""


@options
class Querying(Workers):
    """What is asked of `latentgram ngram query`."""

    model: Path = argument("An automaton (.lg) or an ARPA file.")
    files: list[Path] | None = argument("Text, one sentence per line; standard input if none.", None)
    ngrams: bool = flag("--ngrams", "Lines are n-grams: write log10 p(last word | previous words).")
    perplexity: bool = flag("--perplexity", "Add a third column with the perplexity of the sentence.")
    words: bool = flag("--words", "Write a line for every word and end of sentence: word, log10 p, 1 if unknown.")
    to: TableForm = None


@command
def query(asked: Querying) -> None:
    """Print log10 p and the number of unknown words of every sentence, and the total perplexity on stderr.

    Text is processed as a stream. Automata of unsmoothed counts give unseen n-grams probability zero; the number
    of impossible sentences is printed, and the perplexity of the others. To score new text, estimate the model
    with --smoothing.
    """
    from latentgram.cli.console import ensure_input, reading
    from latentgram.data.files import read_blocks
    from latentgram.data.text import text_blocks
    from latentgram.learn.reading import read_automaton

    if asked.words and (asked.ngrams or asked.perplexity):
        raise SettingError("--words cannot be combined with --ngrams or --perplexity")
    ensure_input(asked.files)
    automaton = read_automaton([asked.model])
    paths = [str(file) for file in asked.files] if asked.files else ["-"]
    cut = read_blocks if asked.ngrams else text_blocks
    blocks = ((path, line, block) for path in paths for line, block in cut(path))
    with reading(paths), asked.engine() as engine:
        if asked.ngrams:
            _write_ngrams(automaton, blocks, engine, asked.to)
            return
        total = _Total()
        scored = total.over(engine.map(_Sentences(automaton, asked.words), blocks))
        if asked.words:
            _write_words(scored, asked.to)
        else:
            _write_sentences(scored, asked.to, asked.perplexity)
        total.report()


@dataclass(frozen=True)
class _Scored:
    """A block of text: of each token log p and whether it is unknown, and the words themselves if asked for."""

    sizes: Ints
    """[sentences] the number of tokens, ends of sentences included."""
    logs: Floats
    unknown: Flags
    words: list[str]

    @property
    def first(self) -> Ints:
        """[sentences] the first token of each."""
        ends: Ints = self.sizes.cumsum()
        return ends - self.sizes


@dataclass(frozen=True)
class _Sentences:
    """Scores a block of text; a class, so that workers can be sent it."""

    automaton: BackoffNGram
    with_words: bool

    def __call__(self, block: Block) -> _Scored:
        import numpy as np

        from latentgram.data.text import Text

        path, line, content = block
        text = Text.of_block(content, path, line)
        words = text.words.decode(text.tokens[1:].tolist()) if self.with_words else []
        if not len(text):
            return _Scored(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.bool_), words)
        unknown, logs = self.automaton.unknown_tokens(text), self.automaton.word_logprobs(text)
        return _Scored(np.diff(text.start), logs[1:], unknown[1:], words)


@dataclass
class _Total:
    """The sums over all blocks so far: of all sentences, and of those that are possible."""

    possible: int = 0
    possible_tokens: int = 0
    possible_log: float = 0.0
    total: TextScore | None = None

    def over(self, blocks: Iterable[_Scored]) -> Iterator[tuple[int, _Scored, Floats]]:
        """Add up blocks that pass; with each, the number of its first sentence and log p of all."""
        import numpy as np

        from latentgram.evaluate.perplexity import TextScore

        for block in blocks:
            if not len(block.sizes):
                continue
            score = TextScore.of(block.logs, block.unknown, len(block.sizes))
            before = 0 if self.total is None else self.total.sentences
            self.total = score if self.total is None else self.total + score
            logs = np.add.reduceat(block.logs, block.first)
            there = np.isfinite(logs)
            self.possible += int(there.sum())
            self.possible_tokens += int(block.sizes[there].sum())
            self.possible_log += float(logs[there].sum())
            yield before + 1, block, logs

    def report(self) -> None:
        """Say what the perplexity of all of it is."""
        from latentgram.cli.console import say

        total = self.total
        if total is None:
            say("0 sentences")
            return
        words = total.tokens - total.sentences
        known = f"perplexity of known words {total.known_perplexity:.2f}"
        say(f"{known}; {total.unknown:,} unknown of {words:,} words")
        if total.unknown and not total.impossible:
            say(f"perplexity with unknown words {total.perplexity:.2f}")
        if self.possible < total.sentences:
            share = "no others"
            if self.possible:
                share = f"perplexity of the others {math.exp(-self.possible_log / self.possible_tokens):.2f}"
            say(
                f"{total.sentences - self.possible:,} of {total.sentences:,} sentences have probability 0; {share}"
            )


def _write_sentences(scored: Iterable[tuple[int, _Scored, Floats]], to: Form | None, perplexity: bool) -> None:
    """A line for each sentence: log10 p, the number of unknown words, perhaps the perplexity."""
    import numpy as np

    def rows() -> Iterator[list[tuple[object, ...]]]:
        for number, block, logs in scored:
            counts = np.add.reduceat(block.unknown.astype(np.int64), block.first)
            columns = (logs / np.log(10), counts, np.exp(-logs / block.sizes))
            yield list(zip(range(number, number + len(logs)), *(each.tolist() for each in columns), strict=True))

    if to is not None:
        write_table(("sentence", "log10_p", "unknown", "perplexity"), chain.from_iterable(rows()), to)
        return
    end = "\t{3:.2f}" if perplexity else ""
    for part in rows():
        typer.echo("\n".join(f"{{1:.5f}}\t{{2}}{end}".format(*row) for row in part))


def _write_words(scored: Iterable[tuple[int, _Scored, Floats]], to: Form | None) -> None:
    """A line for each word: log10 p given those before it; a blank line after each sentence."""
    import numpy as np

    from latentgram.data.text import END

    def rows() -> Iterator[list[tuple[int, int, str, float, bool]]]:
        for number, block, _ in scored:
            sentence = np.repeat(np.arange(number, number + len(block.sizes)), block.sizes).tolist()
            position = (np.arange(1, block.sizes.sum() + 1) - np.repeat(block.first, block.sizes)).tolist()
            logs = (block.logs / np.log(10)).tolist()
            yield list(zip(sentence, position, block.words, logs, block.unknown.tolist(), strict=True))

    if to is not None:
        write_table(("sentence", "position", "word", "log10_p", "unknown"), chain.from_iterable(rows()), to)
        return
    for part in rows():
        lines = (f"{word}\t{log:.5f}\t{unknown:d}\n{chr(10) * (word == END)}" for *_, word, log, unknown in part)
        typer.echo("".join(lines), nl=False)


@dataclass(frozen=True)
class _NGrams:
    """Scores a block of lines that are n-grams; a class, so that workers can be sent it."""

    automaton: BackoffNGram

    def __call__(self, block: Block) -> tuple[str, Floats]:
        import numpy as np

        path, first, content = block
        try:
            return content, self.automaton.query_lines(content) / np.log(10)
        except DataError:
            empty = next((i for i, line in enumerate(_ngrams_of(content)) if not line), None)
            if empty is None:
                raise
            message = "this line has no words, but an n-gram is expected"
            raise DataError(message, path=path, line=first + empty) from None


def _write_ngrams(automaton: BackoffNGram, blocks: Iterable[Block], engine: Engine, to: Form | None) -> None:
    """A line for each n-gram: log10 p of its last word."""
    answers = engine.map(_NGrams(automaton), blocks)
    if to is not None:
        rows = (zip(_ngrams_of(block), logs.tolist(), strict=True) for block, logs in answers)
        write_table(("ngram", "log10_p"), chain.from_iterable(rows), to)
        return
    for _, logs in answers:
        typer.echo(_lines(logs), nl=False)


def _lines(logs: Floats) -> bytes:
    """The numbers as lines of text."""
    import numpy as np

    from latentgram.sequences.kernels.backoff import LINE, write_logs

    written = np.empty(LINE * len(logs), np.uint8)
    return written[: write_logs(logs, written)].tobytes()


def _ngrams_of(block: str) -> list[str]:
    """The n-grams of the lines of a block, with single spaces between words."""
    return [" ".join(line.split()) for line in block.removesuffix("\n").split("\n")]
