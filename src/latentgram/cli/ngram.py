"""`latentgram ngram count|build|mix|query|export`: n-gram counts, back-off automata and language models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import typer

from latentgram.cli.options import Workers, argument, check_output, command, flag, option, options
from latentgram.cli.tables import TableForm, write_table
from latentgram.data.files import whole_number
from latentgram.errors import DataError, SettingError
from latentgram.kinds.learners import Smoothing

if TYPE_CHECKING:
    from latentgram.arrays import Flags, Floats, Ints
    from latentgram.cli.tables import Form
    from latentgram.data.text import Text
    from latentgram.evaluate.perplexity import TextScore
    from latentgram.sequences.ngram import BackoffNGram

app = typer.Typer(help="Count n-grams; build, mix, query and export language models.", no_args_is_help=True)
Output = Annotated[Path, typer.Option("-o", "--output", help="File to write to.")]


def _tell_repairs(repairs: dict[str, int]) -> None:
    from latentgram.cli.console import say

    for what, times in repairs.items():
        say(f"repaired: {what}: {times:,}")


def _refuse_idle_folder(memory: str | None, temporary: Path | None) -> None:
    if temporary is not None and memory is None:
        raise SettingError("--temporary is the folder for --memory: give --memory as well")


def _cutoffs(said: str) -> int | list[int]:
    parts = said.split(",")
    least = [number for part in parts if (number := whole_number(part.strip())) is not None]
    if len(least) != len(parts):
        raise SettingError(f"--cutoff is a number or numbers separated by commas, got {said[:80]!r}")
    return least if len(least) > 1 else least[0]


class _Limits(TypedDict):
    order: int
    cutoff: int | list[int]
    all_bigrams: bool


@options
class Counting(Workers):
    """What is asked of `latentgram ngram count`."""

    files: list[Path] = argument(
        "Files or folders, one sentence per line; trees; or tables of n-grams (words, a tab, a count)."
    )
    output: Output
    order: int = option(3, "Length of the longest n-grams.", min=1)
    cutoff: str = option("1", "Lowest count kept, for orders 3 and above; or one per order, such as 1,1,3.")
    all_bigrams: bool = option(True, "Keep all bigrams whatever the cut-off.")
    dictionary: str | None = option(
        None, "Count unambiguous words as their tag, by this tagged FILE[:COLUMN[:LEAST]]."
    )
    table: bool = flag("--table", "The input is a table, whatever its first line looks like.")
    memory: str | None = option(
        None, "Count text of any size with temporary files, using at most this much memory, such as 2G."
    )
    temporary: Path | None = option(None, "Folder for temporary files; by default that of the system.")

    @property
    def limits(self) -> _Limits:
        """Which n-grams are kept."""
        return {"order": self.order, "cutoff": _cutoffs(self.cutoff), "all_bigrams": self.all_bigrams}

    @property
    def alone(self) -> bool:
        """Whether this process counts by itself."""
        return self.n_jobs == 1 and self.cluster is None


@app.command(no_args_is_help=True)
@command
def count(asked: Counting) -> None:
    """Count the n-grams of text; the output is a table, or a compact file if its name ends in .lg."""
    import latentgram
    from latentgram.cli.console import progress, reading, say
    from latentgram.data.ngrams.external import write_counts
    from latentgram.data.ngrams.tables import is_table, read_table
    from latentgram.data.tag_dictionary import read_specified
    from latentgram.sequences.counting import count_ngrams

    check_output(asked.output, asked.files, asked.dictionary)
    _refuse_idle_folder(asked.memory, asked.temporary)
    compact = str(asked.output).endswith(".lg")
    if asked.table or is_table(asked.files):
        counts = read_table(asked.files)
    elif not asked.alone:
        if asked.dictionary is not None or asked.memory is not None:
            name = "--memory" if asked.dictionary is None else "--dictionary"
            raise SettingError(f"{name} needs the whole text in one process: leave out --n-jobs and --cluster")
        with asked.engine() as engine:
            counts = count_ngrams(asked.files, engine=engine, **asked.limits)
    elif asked.memory is not None and asked.dictionary is None and not compact:
        with progress() as shown:
            sizes = write_counts(
                asked.files,
                asked.output,
                memory=asked.memory,
                temporary=asked.temporary,
                progress=shown,
                **asked.limits,
            )
        say(f"{sum(sizes):,} n-grams kept ({', '.join(f'{size:,}' for size in sizes)} by order)")
        return
    else:
        known = None if asked.dictionary is None else read_specified(asked.dictionary)
        with reading(asked.files if asked.memory is None else ()) as shown:
            counts = latentgram.NGramCounts.read(
                asked.files,
                dictionary=known,
                memory=asked.memory,
                temporary=asked.temporary,
                progress=shown,
                **asked.limits,
            )
    latentgram.save(counts, asked.output) if compact else counts.write(asked.output)
    _tell_repairs(counts.repairs)
    say(counts.summary())


@options
class Building:
    """What is asked of `latentgram ngram build`."""

    files: list[Path] = argument("Text or tables of n-grams, files or folders; stored counts (.lg); an ARPA file.")
    output: Output
    reading: Literal["exclusive", "epsilon", "failure"] | None = option(
        None, "How weights are computed from counts; by default exclusive (ARPA files, smoothed models: failure)."
    )
    smoothing: Smoothing | None = option(None, "Estimate a smoothed language model with this method.")
    order: int | None = option(None, "For text: length of the longest n-grams, by default 3.", min=1)
    cutoff: str | None = option(
        None, "Smoothed models: lowest count kept, for orders 3 and above, or one per order, such as 1,1,2."
    )
    entropy: float | None = option(
        None, "Smoothed models: prune n-grams whose removal raises the perplexity by less than this fraction."
    )
    memory: str | None = option(
        None, "Text to ARPA: use temporary files and at most this much memory, such as 2G."
    )
    temporary: Path | None = option(None, "Folder for temporary files; by default that of the system.")
    compact: int | None = option(
        None,
        "Write a compact file, with probabilities rounded to this many bits, such as 10.",
        min=2,
        max=16,
    )
    strict: bool = flag("--strict", "Refuse an ARPA file whose probabilities do not sum to one.")

    @property
    def estimates_arpa(self) -> bool:
        """Whether a language model goes from text straight to an ARPA file."""
        from latentgram.data.files import plain_suffix

        counted = any(plain_suffix(file) in (".lg", ".arpa") for file in self.files)
        plain = self.compact is None and not self.strict and self.smoothing is not None
        return plain and not counted and plain_suffix(self.output) == ".arpa"


@app.command(no_args_is_help=True)
@command
def build(asked: Building) -> None:
    """Build a back-off automaton or, with --smoothing, a language model; a name in .arpa gives an ARPA file."""
    import latentgram
    from latentgram.cli.console import progress, reading, say
    from latentgram.learn.reading import read_automaton

    check_output(asked.output, asked.files)
    _refuse_idle_folder(asked.memory, asked.temporary)
    least = None if asked.cutoff is None else _cutoffs(asked.cutoff)
    learner = latentgram.Counting(
        reading=asked.reading,
        smoothing=asked.smoothing,
        cutoff=tuple(least) if isinstance(least, list) else least,
        entropy=asked.entropy,
    )
    if asked.estimates_arpa:
        with progress() as shown:
            written = latentgram.write_language_model(
                asked.files,
                asked.output,
                by=learner,
                order=asked.order or 3,
                memory=asked.memory,
                temporary=asked.temporary,
                progress=shown,
            )
        _tell_repairs(written.repairs)
        say(written.summary())
        return
    with reading(asked.files) as shown:
        model = read_automaton(
            asked.files,
            learner,
            asked.strict,
            asked.order,
            memory=asked.memory,
            temporary=asked.temporary,
            progress=shown,
        )
    _write(model, asked.output, asked.compact)
    _tell_repairs(model.repairs)
    say(model.summary())


def _write(model: BackoffNGram, output: Path, bits: int | None = None) -> None:
    """Write a model as its name says: an ARPA file, or one of ours, packed if so many bits are asked for."""
    import latentgram
    from latentgram.data.files import plain_suffix
    from latentgram.sequences.compact import CompactNGram

    if plain_suffix(output) == ".arpa":
        if bits is not None:
            raise SettingError("--compact is for files of latentgram (.lg), not for ARPA files")
        model.to_arpa(output)
    else:
        latentgram.save(model if bits is None else CompactNGram.of(model, bits), output)


@app.command(no_args_is_help=True)
def mix(
    models: Annotated[list[Path], typer.Argument(help="Two or more smoothed models (.lg) or ARPA files.")],
    output: Output,
    heldout: Annotated[
        Path | None, typer.Option(help="Held-out text, to choose the weights that make it most likely.")
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="Interpolation weights, such as 0.3,0.7; they are divided by their sum.")
    ] = None,
) -> None:
    """Interpolate language models, with given weights or with weights found by EM on held-out text."""
    import latentgram
    from latentgram.cli.console import reading, say

    check_output(output, models, heldout)
    if (heldout is None) == (weights is None):
        raise SettingError("a mixture needs either --heldout or --weights")
    with reading([*models, *([heldout] if heldout else [])]) as shown:
        mixture = latentgram.mix(*_weighted(models, heldout, weights), progress=shown)
    _write(mixture, output)
    say(mixture.summary())


def _weighted(
    models: list[Path], heldout: Path | None, weights: str | None
) -> tuple[list[BackoffNGram], list[float]]:
    """Models with their weights, by held-out text or as they are written."""
    from latentgram.cli.console import say
    from latentgram.data.text import Text
    from latentgram.learn.reading import read_automaton
    from latentgram.sequences.mixing import mixing_weights

    parts = [read_automaton([model]) for model in models]
    if heldout is None:
        try:
            return parts, [float(part) for part in (weights or "").split(",")]
        except ValueError:
            raise SettingError(f"--weights are numbers separated by commas, got {weights!r}") from None
    shares = mixing_weights(parts, Text.read(heldout)).tolist()
    say("weights " + ", ".join(f"{share:.4f} {model}" for share, model in zip(shares, models, strict=True)))
    return parts, shares


@app.command(no_args_is_help=True)
def query(
    model: Annotated[Path, typer.Argument(help="An automaton (.lg) or an ARPA file.")],
    files: Annotated[
        list[Path] | None, typer.Argument(help="Text, one sentence per line; standard input if none.")
    ] = None,
    ngrams: Annotated[
        bool, typer.Option("--ngrams", help="Lines are n-grams: write log10 p(last word | previous words).")
    ] = False,
    perplexity: Annotated[
        bool, typer.Option("--perplexity", help="Add a third column with the perplexity of the sentence.")
    ] = False,
    words: Annotated[
        bool,
        typer.Option(
            "--words", help="Write a line for every word and end of sentence: word, log10 p, 1 if unknown."
        ),
    ] = False,
    to: TableForm = None,
) -> None:
    """Print log10 p and the number of unknown words of every sentence, and the total perplexity on stderr.

    Text is processed as a stream. Automata of unsmoothed counts give unseen n-grams probability zero; the number
    of impossible sentences is printed, and the perplexity of the others. To score new text, estimate the model
    with --smoothing. The work is done in one process: there is no --n-jobs.
    """
    from latentgram.cli.console import ensure_input, reading
    from latentgram.learn.reading import read_automaton

    if words and (ngrams or perplexity):
        raise SettingError("--words goes neither with --ngrams nor with --perplexity")
    ensure_input(files)
    automaton = read_automaton([model])
    paths = [str(file) for file in files] if files else ["-"]
    with reading(paths):
        if ngrams:
            _write_ngrams(automaton, paths, to)
        elif words:
            _write_words(automaton, paths, to)
        else:
            _write_sentences(automaton, paths, to, perplexity)


def _write_ngrams(automaton: BackoffNGram, paths: list[str], to: Form | None) -> None:
    """log10 p of the last word of n-grams."""
    answers = _query_ngrams(automaton, paths)
    if to is not None:
        asked = (zip(_ngrams_of(block), logs.tolist(), strict=True) for block, logs in answers)
        write_table(("ngram", "log10_p"), chain.from_iterable(asked), to)
    else:
        for _, logs in answers:
            typer.echo(_lines(logs), nl=False)


def _write_sentences(automaton: BackoffNGram, paths: list[str], to: Form | None, perplexity: bool) -> None:
    """Print log10 p of each sentence, and at the end the perplexity of all of them."""
    total = _Queried()
    rows = total.answers(automaton, paths)
    if to is not None:
        write_table(("sentence", "log10_p", "unknown", "perplexity"), chain.from_iterable(rows), to)
    else:
        end = "\t{3:.2f}" if perplexity else ""
        for part in rows:
            typer.echo("\n".join(f"{{1:.5f}}\t{{2}}{end}".format(*row) for row in part))
    total.report()


def _write_words(automaton: BackoffNGram, paths: list[str], to: Form | None) -> None:
    """log10 p of every word given those before it, a blank line after each sentence."""
    from latentgram.data.text import END

    total = _Queried()
    rows = total.words(automaton, paths)
    if to is not None:
        write_table(("sentence", "word", "log10_p", "unknown"), chain.from_iterable(rows), to)
    else:
        for part in rows:
            lines = (
                f"{word}\t{log:.5f}\t{unknown:d}\n{chr(10) * (word == END)}" for _, word, log, unknown in part
            )
            typer.echo("".join(lines), nl=False)
    total.report()


def _query_ngrams(automaton: BackoffNGram, paths: list[str]) -> Iterator[tuple[str, Floats]]:
    """Blocks of n-grams, one per line, with log10 p of the last word of each."""
    import numpy as np

    from latentgram.data.files import read_blocks

    for path in paths:
        for first, block in read_blocks(path):
            try:
                yield block, automaton.query_lines(block) / np.log(10)
            except DataError:
                empty = next((i for i, line in enumerate(_ngrams_of(block)) if not line), None)
                if empty is None:
                    raise
                message = "this line has no words, but an n-gram is expected"
                raise DataError(message, path=path, line=first + empty) from None


def _lines(logs: Floats) -> bytes:
    """The numbers as lines of text."""
    import numpy as np

    from latentgram.sequences.kernels.backoff import LINE, write_logs

    written = np.empty(LINE * len(logs), np.uint8)
    return written[: write_logs(logs, written)].tobytes()


def _ngrams_of(block: str) -> list[str]:
    """The n-grams of the lines of a block, with single spaces between words."""
    return [" ".join(line.split()) for line in block.removesuffix("\n").split("\n")]


@dataclass
class _Queried:
    """What was asked of an automaton so far: all sentences, and those that are possible."""

    possible: int = 0
    possible_tokens: int = 0
    possible_log: float = 0.0
    total: TextScore | None = None

    def answers(self, automaton: BackoffNGram, paths: list[str]) -> Iterator[list[tuple[object, ...]]]:
        """Of each sentence its number, log10 p, the number of unknown words and the perplexity; by blocks."""
        import numpy as np

        for text, number, logs, _, unknown in self._blocks(automaton, paths):
            counts = np.add.reduceat(unknown.astype(np.int64), text.start[:-1])
            columns = (number, logs / np.log(10), counts, np.exp(-logs / np.diff(text.start)))
            yield list(zip(*(column.tolist() for column in columns), strict=True))

    def words(self, automaton: BackoffNGram, paths: list[str]) -> Iterator[list[tuple[int, str, float, bool]]]:
        """Of each word the number of its sentence, the word, log10 p and whether it is unknown; by blocks."""
        import numpy as np

        for text, number, _, of_word, unknown in self._blocks(automaton, paths):
            sentence = np.repeat(number, np.diff(text.start)).tolist()
            names = text.words.decode(text.tokens[1:].tolist())
            logs = (of_word[1:] / np.log(10)).tolist()
            yield list(zip(sentence, names, logs, unknown[1:].tolist(), strict=True))

    def _blocks(
        self, automaton: BackoffNGram, paths: list[str]
    ) -> Iterator[tuple[Text, Ints, Floats, Floats, Flags]]:
        """Blocks of text: numbers and log p of their sentences, log p of each token, whether it is unknown."""
        import numpy as np

        from latentgram.data.text import Text, text_blocks
        from latentgram.evaluate.perplexity import TextScore

        for path in paths:
            for line, block in text_blocks(path):
                text = Text.of_block(block, path, line)
                if not len(text):
                    continue
                unknown, of_word = automaton.unknown_tokens(text), automaton.word_logprobs(text)
                score = TextScore.of(of_word[1:], unknown[1:], len(text))
                before = 0 if self.total is None else self.total.sentences
                self.total = score if self.total is None else self.total + score
                logs, tokens = np.add.reduceat(of_word, text.start[:-1]), np.diff(text.start)
                there = np.isfinite(logs)
                self.possible += int(there.sum())
                self.possible_tokens += int(tokens[there].sum())
                self.possible_log += float(logs[there].sum())
                yield text, np.arange(before + 1, before + 1 + len(logs)), logs, of_word, unknown

    def report(self) -> None:
        """Say what the perplexity of all of it is."""
        import math

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


@app.command(no_args_is_help=True)
def export(
    model: Annotated[Path, typer.Argument(help="An automaton (.lg) or an ARPA file.")],
    output: Output,
    to: Annotated[
        Literal["arpa", "openfst"], typer.Option(help="Output format; ARPA requires the failure reading.")
    ] = "arpa",
) -> None:
    """Write an automaton for other programs; OpenFst text comes with a symbol table in a second file (.syms).

    An HMM can be written for OpenFst, too, as a transducer from words to tags, and so can an operator automaton
    without negative numbers.
    """
    from latentgram.learn.reading import read_automaton
    from latentgram.sequences.automaton import OperatorAutomaton
    from latentgram.sequences.hmm import HMM
    from latentgram.store import load, read_header

    check_output(output, model)
    others: dict[str, type[OperatorAutomaton] | type[HMM]] = {"OperatorAutomaton": OperatorAutomaton, "HMM": HMM}
    if to == "openfst" and model.suffix == ".lg" and (kind := others.get(read_header(model).kind)):
        load(model, kind).to_openfst(output)
        return
    automaton = read_automaton([model])
    if to == "arpa":
        automaton.to_arpa(output)
    else:
        automaton.to_openfst(output)
