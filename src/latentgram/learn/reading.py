"""Reading from files what recipes learn from: trees, text, tagged text, n-grams, whatever the files contain.

Each reader takes the files and the learner; the rows of the registry name them (`Reads`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from functools import partial
from pathlib import Path

from latentgram.data.dependencies import DependencyTree
from latentgram.data.files import plain_suffix
from latentgram.data.formats import TEXT, format_of, has_trees, stream
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.ngrams.tables import is_table
from latentgram.data.sentence import Sentence
from latentgram.data.tag_dictionary import split_specification
from latentgram.data.tagged import TAGGED_SUFFIXES
from latentgram.data.tagged import read_tagged as read_columns
from latentgram.data.text import Text
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.data.word_clusters import WordClusters
from latentgram.errors import DataError, ModelFileError, SettingError, a_or_an
from latentgram.kinds.kind import find_kind
from latentgram.kinds.learners import Counting
from latentgram.kinds.settings import Settings
from latentgram.latent_tree.word_vectors import WordVectors
from latentgram.learn.fit import fit
from latentgram.parallel import Engine
from latentgram.progress import Progress
from latentgram.sequences.compact import CompactNGram
from latentgram.sequences.counting import read_arpa
from latentgram.sequences.estimation import count_for_model, count_or_read
from latentgram.sequences.ngram import BackoffNGram
from latentgram.store import load

RESERVED = frozenset(("<s>", "</s>"))
"""The boundaries of sentences."""
VECTOR_MEMORY = "2G"
"""For counting the bigrams that word vectors are made of."""


def read_treebank(files: Sequence[Path], learner: Settings) -> Treebank[Tree] | Treebank[DependencyTree]:
    """Trees, of the kind that the files have."""
    del learner
    return Treebank.read(files)


def read_text(files: Sequence[Path], learner: Settings) -> Text | list[Sentence]:
    """Text, which may be that of tagged sentences or of trees; with tags if the learner takes them as known."""
    if learner.said.get("known_tags"):
        tagged = [file for file in files if is_tagged(str(file)) or has_trees(str(file))]
        bare = [file for file in files if file not in tagged]
        return [*_without_boundaries(tagged), *(Text.read(bare) if bare else ())]
    if all(is_tagged(str(file)) or has_trees(str(file)) for file in files):
        return Text.of(sentence.words for sentence in _without_boundaries(files))
    return Text.read(files)


def read_tagged(files: Sequence[Path], learner: Settings) -> list[Sentence]:
    """Tagged sentences for models that add the boundaries of sentences by themselves."""
    del learner
    return _without_boundaries(files)


def read_tagged_or_trees(files: Sequence[Path], learner: Settings) -> Treebank[Sentence]:
    """Tagged sentences, of tagged text or of trees."""
    del learner
    if all(is_tagged(str(file)) for file in files):
        return Treebank.of(sentence for file in files for sentence in read_tagged_file(str(file)))
    return Treebank.read(files)


def read_ngrams(files: Sequence[Path], learner: Settings) -> BackoffNGram:
    """An n-gram automaton, from whatever holds n-grams."""
    del learner
    return read_automaton(files)


def read_counts(files: Sequence[Path], learner: Settings) -> NGramCounts:
    """Stored n-gram counts, or a table of them."""
    del learner
    return load(files[0], NGramCounts) if _all_stored(files) else NGramCounts.read(files)


def read_text_or_counts(files: Sequence[Path], learner: Settings) -> Text | list[Sentence] | NGramCounts:
    """N-gram counts if the files hold such, else text."""
    if _all_stored(files) or (not is_tagged(str(files[0])) and is_table(files)):
        return read_counts(files, learner)
    return read_text(files, learner)


def read_contexts(files: Sequence[Path], learner: Settings) -> Sized:
    """Trees for vectors by the tree, n-gram counts as they are, otherwise counts of text read as a stream."""
    if _all_stored(files):
        return load(files[0], NGramCounts)
    if learner.said.get("view") == "tree" or format_of(files[0]) != TEXT:
        return read_treebank(files, learner)
    if learner.said.get("view") == "lr-mvl":
        return Text.read(files)
    return NGramCounts.read(files, order=2, memory=VECTOR_MEMORY)


def read_raw_text(path: str) -> Text:
    """The words of a file in any format; raw text is cut into sentences and words, as for parsing.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("Cats sleep. Dogs bark.\\n")
    ...     file.flush()
    ...     read_raw_text(file.name)
    Text(2 sentences, 6 words, seal ...)
    """
    try:
        text = Text.of(sentence.words for sentence in stream(path))
    except DataError as error:
        raise error if error.path else DataError(error.message, path=path) from None
    if not len(text):
        raise DataError("there is no text", path=path)
    return text


def read_vectors(path: str) -> WordVectors | WordClusters:
    """The word vectors of a model file, or the word clusters of any other."""
    return load(path, WordVectors) if path.endswith(".lg") else WordClusters.read(path)


def read_automaton(
    files: Sequence[Path],
    learner: Counting | None = None,
    strict: bool = False,
    order: int | None = None,
    *,
    memory: str | None = None,
    temporary: Path | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> BackoffNGram:
    """An n-gram automaton: stored, from ARPA, from counts (stored or a table), or from text.

    The `learner` says what becomes of counts. Text is counted up to `order` (3), in pieces of `memory` if that is
    given, by the workers of an engine; every n-gram for a smoothed model, else those of order 3 on that are seen
    thrice. `strict` is for ARPA.
    """
    learner = learner or Counting()
    first = str(files[0])
    arpa = plain_suffix(first) == ".arpa"
    if strict and not arpa:
        raise SettingError("--strict is for ARPA files (.arpa)")
    if arpa and learner.reading not in (None, "failure"):
        raise SettingError(f"an ARPA file has the failure reading and cannot be read as {learner.reading}")
    if len(files) > 1 and any(plain_suffix(file) in (".arpa", ".lg") for file in files):
        raise SettingError("give only one stored automaton, ARPA file or file of stored counts")
    counted = arpa or first.endswith(".lg")
    if counted and (order is not None or memory is not None):
        raise SettingError(f"{first} contains counts already: order and memory apply only to text")
    if arpa:
        _refuse_smoothing(learner, first)
        return read_arpa(first, strict=strict)
    if not counted:
        unsmoothed = learner.smoothing in (None, "none")
        read = partial(count_or_read, cutoff=3) if unsmoothed else count_for_model
        counts = read([str(file) for file in files], order or 3, memory, temporary, progress, engine)
        return fit(BackoffNGram, counts, by=learner, progress=progress)
    stored = load(first)
    if isinstance(stored, NGramCounts):
        return fit(BackoffNGram, stored, by=learner, progress=progress)
    if isinstance(stored, CompactNGram):
        stored = stored.expanded()
    if isinstance(stored, BackoffNGram):
        if learner.reading not in (None, stored.reading):
            raise SettingError(f"{first} already has the reading {stored.reading}: build the other from counts")
        _refuse_smoothing(learner, first)
        return stored
    kind = find_kind(stored)
    hint = f": {kind.use}" if kind is not None and kind.use else ""
    name = type(stored).__name__
    raise ModelFileError(f"{first} is neither n-gram counts nor a back-off automaton but {a_or_an(name)}{hint}")


def _refuse_smoothing(learner: Counting, file: str) -> None:
    if learner.smoothing is not None:
        raise SettingError(
            f"{file} contains probabilities already: a smoothed model is estimated from counts or text"
        )


def read_tagged_file(specification: str) -> list[Sentence]:
    """Tagged sentences of `FILE[:COLUMN]`, or of a file of trees."""
    if has_trees(specification):
        sentences = Treebank.read(specification).sentences()
        if bare := [number for number, sentence in enumerate(sentences, 1) if sentence.tags is None]:
            raise DataError(f"sentence {bare[0]} has no tags", path=specification)
        return sentences
    path, *column = split_specification(specification)
    return list(read_columns(path, column=int(column[0]) if column else 1))


def is_tagged(file: str) -> bool:
    """Whether a file has one word per line with tags, by its name."""
    return plain_suffix(split_specification(file)[0]) in TAGGED_SUFFIXES


def _all_stored(files: Iterable[Path]) -> bool:
    return all(file.suffix == ".lg" for file in files)


def _without_boundaries(files: Iterable[Path]) -> list[Sentence]:
    """Tagged sentences, none of whose words is a boundary."""
    sentences = []
    for file in files:
        for number, sentence in enumerate(read_tagged_file(str(file)), 1):
            if not RESERVED.isdisjoint(sentence.words):
                word = next(word for word in sentence.words if word in RESERVED)
                raise DataError(
                    f"sentence {number} has the word {word}, which is reserved: leave it out", path=file
                )
            sentences.append(sentence)
    return sentences
