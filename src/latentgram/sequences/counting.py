"""Models by counting: HMMs from tagged text, back-off automata from n-grams; and n-grams counted by many workers.

    p(t | s) ∝ cnt(s t) + κ,    p(w | t) ∝ cnt(t w) + κ'

for an HMM of tagged text, with pseudo-counts κ and κ'. A `BackoffNGram` has an arc for each kept n-gram
and a state for each history that is extended; its weights are ratios of counts (Smith and Eisner 2012, §3.1; see
ngram.py for the three readings), or smoothed ones (smoothing.py). Models of others come in ARPA files. One pass
over the counts.

N-gram counts add, and they are whole numbers: whatever the blocks of text and the workers, their sum is the same
to the last bit. The client reads the text once (twice if rare words are to become `<unk>`) and sends it as it is;
a worker sends back the distinct n-grams of its block. What has come back is merged whenever it has grown as large
as the sum, so that each n-gram is sorted O(log blocks) times. Memory: the distinct n-grams of the text, at 40
bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from latentgram.arrays import Flags, Floats, Ints
from latentgram.data.alphabet import Alphabet
from latentgram.data.files import PathLike, expand
from latentgram.data.ngrams.arpa import Arpa
from latentgram.data.ngrams.arpa import read_arpa as read_arpa_file
from latentgram.data.ngrams.counts import UNKNOWN, NGramCounts, cutoffs_of
from latentgram.data.ngrams.trie import NONE, NGramTrie
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence
from latentgram.data.tag_dictionary import TagDictionary
from latentgram.data.text import BOUNDARY, END, Text, text_blocks
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context
from latentgram.parallel import Engine
from latentgram.sequences.automaton import OperatorAutomaton
from latentgram.sequences.hmm import HMM
from latentgram.sequences.ngram import EMPTY, READINGS, BackoffNGram
from latentgram.sequences.parameters import Emissions, Expected, Prior, as_hmm, maximise
from latentgram.sequences.pruning import pruned
from latentgram.sequences.settings import CountingHMM, CountingNGram
from latentgram.sequences.smoothing import smoothed

Block = tuple[str, int, str]
"""A path, the number of the first line, and the text."""
OFF = 1e-2
"""Probabilities of a history in an ARPA file may sum to one within this; files in the wild are off by a tenth."""


def count_automaton(data: Iterable[Sentence], settings: CountingHMM, context: Context) -> OperatorAutomaton:
    """The recipe: an HMM counted from tagged sentences, as an operator automaton."""
    return count_hmm(data, settings, context).automaton()


def count_hmm(data: Iterable[Sentence], settings: CountingHMM, context: Context) -> HMM:
    """The recipe: relative frequencies of tagged sentences."""
    del context
    sentences = [Sentence.of(item) if isinstance(item, list | tuple) else item for item in data]
    if any(not isinstance(item, Sentence) or item.tags is None for item in sentences) or not sentences:
        raise DataError("Counting learns an HMM from tagged sentences; for plain text use EM")
    text = Text.of(sentences)
    dictionary = TagDictionary.of(sentences, at_least=1)
    shape = Emissions.of(text.words, dictionary)
    tag = np.zeros(len(text.tokens), np.int64)
    tag[text.tokens != BOUNDARY] = dictionary.tags.encode(t for s in sentences for t in (s.tags or ()))
    tags = len(dictionary.tags)
    state, follower = tag[:-1], tag[1:]
    if settings.order == 3:
        before = np.concatenate([[0], np.where(state[1:] == BOUNDARY, 0, state[:-1])])
        state = before * tags + state
    transition = np.zeros((tags ** (settings.order - 1), tags))
    np.add.at(transition, (state, follower), 1.0)
    row = np.repeat(np.arange(len(text.words)), np.diff(shape.start))
    keys = row * tags + shape.tag
    emission = np.zeros(len(shape.tag))
    np.add.at(emission, np.searchsorted(keys, text.tokens * np.int64(tags) + tag), 1.0)
    prior = Prior(settings.transition_prior, settings.emission_prior)
    parameters = maximise(Expected(transition, emission), shape, prior)
    word_count = np.bincount(text.tokens, minlength=len(text.words))
    return as_hmm(parameters, shape, word_count, unknown_words=settings.unknown)


def count_backoff(counts: NGramCounts, settings: CountingNGram, context: Context) -> BackoffNGram:
    """The recipe: relative frequencies of counted n-grams, smoothed or in the reading that the settings name."""
    if settings.smoothing == "none":
        return from_counts(counts, settings.reading)
    _refuse_others(counts)
    model = smoothed_model(counts, settings)
    context.progress.step("estimating", 1, 2)
    automaton = from_arpa(model)
    context.progress.step("estimating", 2, 2)
    return replace(
        automaton, sentences=float(counts.sentences), classes=counts.classes, provenance=counts.provenance
    )


def smoothed_model(counts: NGramCounts, settings: CountingNGram) -> Arpa:
    """The smoothed model of counts, pruned as the settings say."""
    cutoffs = cutoffs_of(counts.order, settings.cutoff, all_bigrams=True)
    model = smoothed(counts, settings.smoothing, cutoffs if max(cutoffs) > 1 else None)
    return pruned(model, settings.entropy) if settings.entropy else model


def from_counts(counts: NGramCounts, reading: str = "exclusive") -> BackoffNGram:
    """The automaton of n-gram counts.

    >>> from latentgram.data.text import Text
    >>> text = Text.of(["a rose is a rose", "a rose is red"])
    >>> model = from_counts(NGramCounts.of(text, order=3, cutoff=2))
    >>> print(model.summary())
    back-off 3-gram automaton (exclusive) with 8 histories, 8 arcs and 4 words
    >>> round(float(np.exp(model.logprob("a rose is red"))), 4)
    0.3333
    """
    if reading not in READINGS:
        raise SettingError(
            f"the reading of a back-off automaton must be one of {', '.join(READINGS)}, not {reading!r}"
        )
    _refuse_others(counts)
    if counts.sentences < 1:
        raise DataError("the counts have no sentence boundary, so no sentence ever ends: count with boundaries")
    trie, count = counts.trie, counts.count
    inner = np.arange(trie.words, len(trie))
    followed = np.bincount(trie.prefix[inner], count[inner], minlength=len(trie))
    rest = count - followed
    if reading == "exclusive":
        flow = count - np.bincount(trie.suffix[inner], count[inner], minlength=len(trie))
    else:
        flow = count.astype(np.float64)
    repairs = dict(counts.repairs)
    for name, values in (("exclusive counts", flow), ("rests of histories", rest)):
        if negative := int((values < 0).sum()):
            repairs[f"negative {name} set to 0"] = negative
            np.maximum(values, 0.0, out=values)
    # Only histories that are ever extended pass anything on.
    rest = np.where(np.diff(trie.extension) > 0, rest, 0.0)
    visits = np.bincount(trie.prefix[inner], flow[inner], minlength=len(trie)) + rest
    empty_visits = float(flow[: trie.words].sum())
    used = (np.diff(trie.extension) > 0) & (visits > 0)
    states = _States(trie, used)
    arcs = np.flatnonzero((flow > 0) & states.has_source)
    total = np.concatenate([[empty_visits], visits[states.rows]])
    weight = np.concatenate([[0.0], rest[states.rows]])
    with np.errstate(invalid="ignore"):
        failure = np.where(total > 0, weight / total, 0.0)
    prob = flow[arcs] / total[states.of_prefix[arcs]]
    exact = reading == "exclusive" and not any(name.startswith("negative") for name in repairs)
    model = states.automaton(
        counts, reading, arcs, prob, failure, total / counts.sentences if exact else np.zeros(0), repairs
    )
    return model if reading != "failure" else _exact_failures(model)


def _refuse_others(counts: object) -> None:
    if not isinstance(counts, NGramCounts):
        raise SettingError(
            f"a BackoffNGram is counted from NGramCounts, not from {type(counts).__name__}: count the n-grams of "
            "a text first, NGramCounts.of(text, order=3)"
        )


def _exact_failures(model: BackoffNGram) -> BackoffNGram:
    """Divide the failure weights by what the lower history has left: 1 − Σ_{hw kept} c(w | b(h))."""
    left, repaired = _left_below(model)
    shut = (model.failure > 0) & (left <= 1e-12)
    failure = np.where(shut, 0.0, model.failure / np.where(left > 1e-12, left, 1.0))
    # Where nothing is left below, the arcs of the history get its whole mass.
    scale = np.where(shut, 1.0 / np.maximum(1.0 - model.failure, 1e-300), 1.0)
    failure[EMPTY] = 0.0
    repairs = model.repairs | ({"histories that cannot back off": repaired} if repaired else {})
    return replace(model, failure=failure, arc_prob=model.arc_prob * scale[model.source], repairs=repairs)


def _left_below(model: BackoffNGram) -> tuple[Floats, int]:
    """[states] the mass of the lower history's distribution on words that the history has no arc for."""
    upper = np.flatnonzero(model.arc_lower >= 0)
    taken = np.bincount(model.source[upper], model.arc_prob[model.arc_lower[upper]], minlength=model.states)
    left = np.maximum(1.0 - taken, 0.0)
    return left, int(((left <= 1e-12) & (model.failure > 0))[1:].sum())


def read_arpa(path: PathLike, *, strict: bool = False) -> BackoffNGram:
    """Read an ARPA file (also `.gz`, `.xz`), repairing sums that are not one; `strict` refuses such files.

    >>> import tempfile, latentgram as lg
    >>> counts = lg.NGramCounts.of(lg.Text.of(["a rose is a rose", "a rose is red"]), order=2)
    >>> model = lg.fit(lg.BackoffNGram, counts, by=lg.Counting(reading="failure"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.to_arpa(f"{folder}/roses.arpa")
    ...     again = lg.read_arpa(f"{folder}/roses.arpa", strict=True)
    >>> abs(again.logprob("a rose is red") - model.logprob("a rose is red")) < 1e-6
    True
    """
    try:
        return from_arpa(read_arpa_file(path), strict=strict)
    except DataError as error:
        raise error if error.path is not None else DataError(error.message, path=path) from None


def from_arpa(arpa: Arpa, *, strict: bool = False) -> BackoffNGram:
    """The automaton of an ARPA file, under the failure reading.

    Histories whose probabilities do not sum to one within 1 % get the back-off weight that makes them; `strict`
    refuses them.
    """
    trie = arpa.trie
    prob, weight = 10.0**arpa.logprob, 10.0**arpa.backoff
    used = (np.diff(trie.extension) > 0) | ((arpa.backoff != 0) & (trie.word != 0)) | (np.arange(len(trie)) == 0)
    used[trie.level[-2] :] = False
    states = _States(trie, used)
    failure = np.concatenate([[0.0], weight[states.rows]])
    arcs = np.arange(len(trie))
    model = states.automaton(arpa, "failure", arcs, prob, failure, np.zeros(0), dict(arpa.repairs))
    own = np.bincount(model.source, model.arc_prob, minlength=model.states)
    left, _ = _left_below(model)
    off = np.abs(own + model.failure * left - 1.0) > OFF
    off[EMPTY] = abs(own[EMPTY] - 1.0) > OFF
    if not off.any():
        return model
    if strict:
        first = int(np.flatnonzero(off)[0])
        name = " ".join(arpa.words.decode([w for w in model.history[first].tolist() if w >= 0])) or "(empty)"
        raise DataError(f"{int(off.sum())} histories do not sum to one, the first of them {name!r}")
    # A sum above one leaves nothing to back off with: scale the arcs; else mend the back-off weight alone.
    over = off & (own > 1.0)
    over[EMPTY] = off[EMPTY]
    scale = np.where(over, 1.0 / np.maximum(own, 1e-300), 1.0)
    mended = np.where(left > 1e-12, np.maximum(1.0 - own * scale, 0.0) / np.maximum(left, 1e-12), 0.0)
    failure = np.where(off, mended, model.failure)
    failure[EMPTY] = 0.0
    repairs = model.repairs | {"histories made to sum to one": int(off.sum())}
    return replace(model, failure=failure, arc_prob=model.arc_prob * scale[model.source], repairs=repairs)


class _States:
    """Which rows of a trie are states, and where every row leads."""

    def __init__(self, trie: NGramTrie, used: Flags) -> None:
        self.trie = trie
        self.rows = np.flatnonzero(used)
        own = np.full(len(trie), NONE, np.int64)
        own[self.rows] = np.arange(1, len(self.rows) + 1)
        # The state after an n-gram is its longest suffix that is a state; short rows come first.
        after = np.where(own[: trie.words] > 0, own[: trie.words], EMPTY)
        for order in range(2, trie.order + 1):
            level = slice(trie.level[order - 1], trie.level[order])
            after = np.concatenate([after, np.where(own[level] > 0, own[level], after[trie.suffix[level]])])
        self.after = after.astype(np.int32)
        self.of_prefix = np.where(trie.prefix >= 0, own[trie.prefix], EMPTY)
        self.has_source = self.of_prefix >= 0

    def automaton(
        self,
        origin: NGramCounts | Arpa,
        reading: str,
        arcs: Ints,
        prob: Floats,
        failure: Floats,
        visits: Floats,
        repairs: dict[str, int],
    ) -> BackoffNGram:
        """Put the arrays together; `arcs` are rows of the trie, in order."""
        trie = self.trie
        order = np.argsort(self.of_prefix[arcs], kind="stable")
        arcs, prob = arcs[order], prob[order]
        place = np.full(len(trie), NONE, np.int64)
        place[arcs] = np.arange(len(arcs))
        lower = np.where(trie.suffix[arcs] >= 0, place[trie.suffix[arcs]], NONE)
        # After an n-gram that ends a sentence the next one begins.
        counts = np.bincount(self.of_prefix[arcs], minlength=len(self.rows) + 1)
        suffix = trie.suffix[self.rows]
        history = np.full((len(self.rows) + 1, trie.order - 1), -1, np.int32)
        rows = self.rows.copy()
        for column in range(trie.order - 2, -1, -1):
            there = rows >= 0
            history[1:, column][there] = trie.word[rows[there]]
            rows = np.where(there, trie.prefix[rows], NONE)
        return BackoffNGram(
            words=origin.words,
            reading=reading,
            history=history,
            backoff=np.concatenate([[NONE], np.where(suffix >= 0, self.after[suffix], EMPTY)]).astype(np.int32),
            failure=failure,
            arc_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            arc_word=trie.word[arcs],
            arc_prob=prob,
            arc_target=self.after[arcs],
            arc_lower=lower.astype(np.int32),
            visits=visits,
            sentences=float(origin.sentences) if isinstance(origin, NGramCounts) else 1.0,
            repairs=repairs,
            classes=origin.classes if isinstance(origin, NGramCounts) else None,
            provenance=origin.provenance if isinstance(origin, NGramCounts) else Provenance(),
        )


def count_ngrams(
    paths: PathLike | Iterable[PathLike],
    *,
    order: int = 3,
    cutoff: int | Sequence[int] = 1,
    all_bigrams: bool = True,
    engine: Engine,
) -> NGramCounts:
    """The n-grams of files, counted by the workers of an engine; the same as `NGramCounts.read` counts.

    Only the digest of the data is another one: it is that of the text and not of its numbers.
    """
    files = expand(paths)
    cutoffs = cutoffs_of(order, cutoff, all_bigrams)
    frequent = None
    if cutoffs[0] > 1:
        singles = _sum(engine, _Count(1, None), _blocks(files, hashlib.sha256()), (cutoffs[0],))
        often = np.flatnonzero(singles.count[1:] >= cutoffs[0]) + 1
        frequent = frozenset(singles.words.decode(often.tolist()))
    digest = hashlib.sha256()
    counts = _sum(engine, _Count(order, frequent), _blocks(files, digest), cutoffs)
    if not counts.sentences:
        raise DataError("there are no sentences to count", path=files[0])
    known = Provenance(data_digest=digest.hexdigest(), data_size=counts.tokens)
    return NGramCounts(counts.words, counts.trie, counts.count, cutoffs, counts.repairs, None, known)


@dataclass(frozen=True)
class _Count:
    """Counts a block; a class, so that workers can be sent it."""

    order: int
    frequent: frozenset[str] | None

    def __call__(self, block: Block) -> NGramCounts:
        path, line, content = block
        text = Text.of_block(content, path, line)
        if self.frequent is not None:
            words = Alphabet((END, *sorted(self.frequent | {UNKNOWN})))
            text = Text(words, text.encoded_by(words, unknown=words.index(UNKNOWN)))
        return NGramCounts.of(text, order=self.order, cutoff=(1,) * self.order)


def _blocks(files: Sequence[str], digest: hashlib._Hash) -> Iterator[Block]:
    for path in files:
        for line, block in text_blocks(path):
            digest.update(block.encode())
            yield path, line, block


def _sum(engine: Engine, count: _Count, blocks: Iterator[Block], cutoffs: Sequence[int]) -> NGramCounts:
    """The counts of all blocks; whose they are, the caller says."""
    ones = (1,) * len(cutoffs)
    total: list[NGramCounts] = []
    waiting: list[NGramCounts] = []
    for part in engine.map(count, blocks):
        waiting.append(part)
        if sum(map(len, waiting)) >= sum(map(len, total)):
            total, waiting = [NGramCounts.merged([*total, *waiting], ones, Provenance())], []
    if not total:
        raise DataError("there are no sentences to count")
    return NGramCounts.merged([*total, *waiting], cutoffs, Provenance())
