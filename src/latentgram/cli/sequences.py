"""What the commands on text, tags and n-grams read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from latentgram.cli.models import USES
from latentgram.errors import DataError, ModelFileError, SettingError

RESERVED = frozenset(("<s>", "</s>"))
"""The boundaries of sentences."""
NOTHING_HELD_OUT = "there are no held-out sentences: the file is empty"
VECTOR_MEMORY = "2G"
"""For counting the bigrams that word vectors are made of."""


def read_for_hmm(files: list[Path], learner: Any) -> Any:
    """The data that a learner of HMMs wants: tagged sentences, text, or an n-gram automaton."""
    kind = type(learner).__name__
    if kind == "Counting":
        return _read_without_boundaries(files)
    if kind == "Variational":
        return read_automaton(files)
    return _read_words(files)


def _read_words(files: list[Path]) -> Any:
    """Text, which may be that of tagged sentences or of trees."""
    from latentgram.data.text import Text

    if all(is_tagged(str(file)) or has_trees(str(file)) for file in files):
        return Text.of(sentence.words for sentence in _read_without_boundaries(files))
    return Text.read(files)


def read_for_automaton(files: list[Path], learner: Any) -> Any:
    """As for an HMM; and spectral learning needs no more than counts."""
    from latentgram.data.ngram_counts import NGramCounts
    from latentgram.data.ngram_tables import is_table
    from latentgram.store import load

    if type(learner).__name__ == "Spectral":
        if all(file.suffix == ".lg" for file in files):
            return load(files[0], NGramCounts)
        if not is_tagged(str(files[0])) and is_table(files):
            return NGramCounts.read(files)
    return read_for_hmm(files, learner)


def logprob_on_text(dev: Path, _: Any) -> Any:
    """The mean log-probability of held-out sentences; one of no positive probability counts as e⁻¹⁰⁰⁰."""
    import numpy as np

    sentences = [sentence.words for sentence in _read_words([dev])]
    if not sentences:
        raise DataError(NOTHING_HELD_OUT, path=dev)

    def score(model: Any) -> float:
        sign, logs = model.values(sentences)
        return float(np.where(sign > 0, logs, -1000.0).mean())

    return score


def read_for_tagger(files: list[Path], learner: Any) -> Any:
    """Tagged sentences, of tagged text or of trees."""
    from latentgram.data.treebank import Treebank

    del learner
    if all(is_tagged(str(file)) for file in files):
        return Treebank.of(sentence for file in files for sentence in read_tagged_file(str(file)))
    return Treebank.read(files)


def read_for_vectors(files: list[Path], learner: Any) -> Any:
    """Trees for vectors by the tree, n-gram counts as they are, otherwise counts of text read as a stream."""
    from latentgram.data.formats import TEXT, format_of
    from latentgram.data.ngram_counts import NGramCounts
    from latentgram.data.treebank import Treebank
    from latentgram.store import load

    if all(file.suffix == ".lg" for file in files):
        return load(files[0], NGramCounts)
    if learner.view == "tree" or format_of(files[0]) != TEXT:
        return Treebank.read(files)
    return NGramCounts.read(files, order=2, memory=VECTOR_MEMORY)


def is_tagged(file: str) -> bool:
    """Whether a file has one word a line with tags, by its name."""
    from latentgram.data.files import plain_suffix
    from latentgram.data.tag_dictionary import split_specification
    from latentgram.data.tagged import TAGGED_SUFFIXES

    return plain_suffix(split_specification(file)[0]) in TAGGED_SUFFIXES


def has_trees(file: str) -> bool:
    """Whether a file has trees, by its name."""
    from latentgram.data.files import plain_suffix
    from latentgram.data.formats import BRACKETS, CONLLU, SUFFIXES

    return plain_suffix(file) in (*SUFFIXES[BRACKETS], *SUFFIXES[CONLLU])


def read_tagged_file(specification: str) -> list[Any]:
    """Tagged sentences of `FILE[:COLUMN]`, or of a file of trees."""
    from latentgram.data.tag_dictionary import split_specification
    from latentgram.data.tagged import read_tagged
    from latentgram.data.treebank import Treebank

    if has_trees(specification):
        sentences = Treebank.read(specification).sentences()
        if bare := [number for number, sentence in enumerate(sentences, 1) if sentence.tags is None]:
            raise DataError(f"sentence {bare[0]} has no tags", path=specification)
        return sentences
    path, *column = split_specification(specification)
    return list(read_tagged(path, column=int(column[0]) if column else 1))


def _read_without_boundaries(files: list[Path]) -> list[Any]:
    """Tagged sentences for models that add the boundaries of sentences by themselves."""
    found = []
    for file in files:
        for number, sentence in enumerate(read_tagged_file(str(file)), 1):
            if not RESERVED.isdisjoint(sentence.words):
                word = next(word for word in sentence.words if word in RESERVED)
                raise DataError(
                    f"sentence {number} has the word {word}, which is reserved: leave it out", path=file
                )
            found.append(sentence)
    return found


def read_automaton(files: list[Path], reading: str | None = None, strict: bool = False) -> Any:
    """An n-gram automaton: stored, from ARPA, from counts, or from text counted to trigrams seen thrice.

    Counts may be stored or a table; `reading` is theirs (exclusive by default), `strict` is for ARPA files.
    """
    import latentgram
    from latentgram.data.files import plain_suffix
    from latentgram.data.ngram_counts import NGramCounts
    from latentgram.sequences.ngram_learning import from_counts

    first = str(files[0])
    arpa = plain_suffix(first) == ".arpa"
    if strict and not arpa:
        raise SettingError("--strict is for ARPA files (.arpa)")
    if arpa and reading not in (None, "failure"):
        raise SettingError(f"an ARPA file has the failure reading and cannot be read as {reading}")
    if len(files) > 1 and (arpa or first.endswith(".lg")):
        raise SettingError("one stored automaton, ARPA file or file of stored counts at a time")
    if arpa:
        return latentgram.read_arpa(first, strict=strict)
    given, reading = reading, reading or "exclusive"
    if not first.endswith(".lg"):
        return from_counts(NGramCounts.read(files, order=3, cutoff=3), reading)
    stored = latentgram.load(first)
    if isinstance(stored, NGramCounts):
        return from_counts(stored, reading)
    if isinstance(stored, latentgram.BackoffNGram):
        if given not in (None, stored.reading):
            raise SettingError(f"{first} is read as {stored.reading} already: build the other from counts")
        return stored
    kind = type(stored).__name__
    hint = f": {USES[kind]}" if kind in USES else ""
    raise ModelFileError(f"{first} holds neither n-gram counts nor a back-off automaton but one {kind}{hint}")


def score_on_tagged(file: Path, _: Any) -> Callable[[Any], float]:
    """Tagging accuracy on held-out sentences; clusters without names count many-to-one."""
    from latentgram.evaluate.tagging import score_tags

    sentences = read_tagged_file(str(file))
    if not sentences:
        raise DataError(NOTHING_HELD_OUT, path=file)
    gold = [sentence.tags for sentence in sentences]
    names = {tag for tags in gold for tag in tags}

    def score(model: Any) -> float:
        output = [result.tags for result in model.tag_all([sentence.words for sentence in sentences])]
        found = score_tags(gold, output)
        return found.accuracy if names & set(model.tags) else found.many_to_one

    return score


def named_tags(model: Any, file: str) -> Any:
    """An HMM whose tags are renamed many-to-one to those of tagged data."""
    from collections import Counter

    pairs: Counter[tuple[str, str]] = Counter()
    sentences = read_tagged_file(file)
    if not sentences:
        raise DataError("there are no sentences to name the tags by", path=file)
    for sentence, result in zip(sentences, model.tag_all([s.words for s in sentences]), strict=True):
        pairs.update(zip(result.tags, sentence.tags or (), strict=True))
    best: dict[str, tuple[int, str]] = {}
    for (found, gold), count in sorted(pairs.items()):
        if count > best.get(found, (0, ""))[0]:
            best[found] = (count, gold)
    return model.renamed({found: gold for found, (_, gold) in best.items()})
