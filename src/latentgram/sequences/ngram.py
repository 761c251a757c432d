"""`BackoffNGram`: a distribution over sentences as a back-off n-gram automaton (Smith and Eisner 2012, §3.1).

States are histories, arcs are kept n-grams, and from a history h an arc of weight `failure[h]` leads to the
history b(h) without its first word. Three readings of the same counts:

* `failure`, the paper's: c(w | h) = cnt(hw)/cnt(h), and the failure arc is taken only if h has no arc for the next
  word. A string has one path; `failure[h]` = [r(h)/cnt(h)] / [1 − Σ_{hw kept} c(w | b(h))] makes it sum to one.
* `epsilon`: the same ratios, but the failure arc, of weight r(h)/cnt(h), may always be taken.
* `exclusive`, the default: each token belongs to the longest kept n-gram that ends there, x(a) tokens to arc a,
  and the weights are ratios of the flows, c_a = x(a)/V(h), failure r(h)/V(h). All marginals are those of the text.

Here r(h) = cnt(h) − Σ cnt(hw) and V(h) = Σ x(hw) + r(h). Scoring costs O(order · log arcs) per word, expected
visits one sparse linear system (none for exclusive counts): with W(#) = 1 for the initial state of a sentence
(to which the final arcs lead back),

    W(g) = Σ_{arcs h → g} c_a W(h) + Σ_{h: b(h) = g} failure(h) W(h).

Under the failure reading, an arc a' = (h, w) blocks the arc a = (b(h), w) for visits that come from h, which
removes failure(h) · c_a · W(h) from the target of a. Plain sweeps need hundreds of rounds, BiCGSTAB about a
hundred products; small systems are solved directly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, cast

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import bicgstab, spsolve

from latentgram.arrays import Flags, Floats, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.files import PathLike
from latentgram.data.invariants import ANY, FINITE, NONNEGATIVE, below, earlier, holds, offsets, rising, shape
from latentgram.data.ngrams.arpa import LEAST_LOG, Arpa, logs, write_arpa
from latentgram.data.ngrams.trie import NGramTrie
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.sentence import Sentence, SentenceLike, symbols_of
from latentgram.data.tag_dictionary import WordClasses
from latentgram.data.text import BEGIN, BOUNDARY, END, Text
from latentgram.data.word_table import WordTable
from latentgram.errors import MOST_DRAWN, DataError, SettingError, check_number
from latentgram.evaluate.perplexity import TextScore
from latentgram.sequences.kernels.backoff import (
    NARROW,
    NEWLINE,
    Scoring,
    sample_walks,
    score_epsilon,
    score_failure,
    score_grams,
    wide_table,
)
from latentgram.sequences.openfst import EPSILON, PHI, Arc, write_openfst

READINGS = ("exclusive", "epsilon", "failure")
UNKNOWN = "<unk>"
EMPTY = 0
"""The state of the empty history."""
DIRECT = 3000
"""Up to this many states the system of expected visits is solved by elimination."""
RESTARTS, SWEEPS = 10, 20
"""How often the iterative solution may break down, and the sweeps that bring it away from there."""


def shortens(model: BackoffNGram) -> bool:
    """Whether each history backs off to a shorter one."""
    length = np.zeros(model.states, np.int32)
    for column in model.history.T:
        length += column >= 0
    return bool((length[model.backoff[1:]] < length[1:]).all())


@dataclass(frozen=True, repr=False)
class BackoffNGram(Summarised):
    """A back-off n-gram automaton.

    >>> import latentgram as lg
    >>> text = lg.Text.of([["a", "b"], ["a", "b"], ["a", "c"]])
    >>> model = lg.fit(lg.BackoffNGram, lg.NGramCounts.of(text, order=2), by=lg.Counting())
    >>> "b" in model.words, model.reading
    (True, 'exclusive')
    """

    words: Annotated[Alphabet, holds("len(words) > 0", "lacks the boundary")]
    """The boundary, then the words."""
    reading: Annotated[str, holds("reading in ('exclusive', 'epsilon', 'failure')", "is not a reading")]
    history: Annotated[Ints32, shape("states", ANY), below("len(words)", or_none=True)]
    """[states, order - 1] the words of each history, at the right, -1 before them; short histories come first."""
    backoff: Annotated[Ints32, shape(ANY), earlier(1), holds(shortens, "does not shorten histories")]
    """[states] the history without its first word, -1 for the empty one."""
    failure: Annotated[Floats, shape("states"), NONNEGATIVE]
    """[states] the weight of the arc to `backoff`."""
    arc_start: Annotated[Ints, shape("states + 1"), offsets("arc_word")]
    """[states + 1] the arcs of state h are `arc_start[h] : arc_start[h + 1]`, sorted by word."""
    arc_word: Annotated[Ints32, shape(ANY), below("len(words)"), rising(rows="arc_start")]
    arc_prob: Annotated[Floats, shape("arcs"), NONNEGATIVE]
    arc_target: Annotated[Ints32, shape("arcs"), below("states")]
    arc_lower: Annotated[Ints32, shape("arcs"), below("arcs", or_none=True)]
    """[arcs] the arc of the same word one order lower, -1 if there is none."""
    visits: Annotated[Floats, holds("visits.shape in ((0,), (states,))", "does not fit the states"), FINITE]
    """[states] expected visits per sentence where known, else empty; see `flow`."""
    sentences: Annotated[float, NONNEGATIVE] = 1.0
    """How many sentences it stands for: 1 when it was not counted from text."""
    repairs: dict[str, int] = field(default_factory=dict)
    classes: WordClasses | None = None
    """Which of its words stand for classes of words, if any do."""
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return int(self.history.shape[1]) + 1

    @property
    def states(self) -> int:
        """The number of histories."""
        return len(self.backoff)

    @property
    def arcs(self) -> int:
        """The number of n-grams."""
        return len(self.arc_word)

    @property
    def is_distribution(self) -> bool:
        """Whether the probabilities after each history, with its failure arc, sum to at most one.

        This need not hold for models that were read from files.
        """
        total = np.bincount(self.source, self.arc_prob, self.states)
        spared = np.ones(self.states)
        if self.reading == "failure":
            lower = self.arc_lower >= 0
            spared -= np.bincount(self.source[lower], self.arc_prob[self.arc_lower[lower]], self.states)
        return bool(((total + self.failure * spared)[1:] <= 1.0 + 1e-12).all() and total[EMPTY] <= 1.0 + 1e-12)

    @property
    def digest(self) -> str:
        """The fingerprint of the text it was counted from."""
        return self.provenance.data_digest

    def __len__(self) -> int:
        return self.arcs

    @cached_property
    def last_word(self) -> Ints32:
        """[states] the last word of each history, -1 for the empty one."""
        if self.order == 1:
            return np.full(self.states, -1, np.int32)
        return np.ascontiguousarray(self.history[:, -1])

    @cached_property
    def initial(self) -> int:
        """The history of the first word of a sentence: the boundary, or the empty history if that has no arcs."""
        begins = np.flatnonzero(self.last_word == BOUNDARY)
        return int(begins[0]) if len(begins) else EMPTY

    @cached_property
    def source(self) -> Ints32:
        """[arcs] the state at which each arc begins."""
        return np.repeat(np.arange(self.states, dtype=np.int32), np.diff(self.arc_start))

    @cached_property
    def expected_visits(self) -> Floats:
        """[states] how often a sentence visits each history on average, failures included."""
        if len(self.visits):
            return self.visits
        start = self.initial
        if start == EMPTY and self.states == 1:
            return np.array([1.0 / float(self.arc_prob[self.arc_word == BOUNDARY].sum())])
        others = np.flatnonzero(np.arange(self.states) != start)
        moves = self._moves()[others]
        system, right = eye_array(len(others)) - moves[:, others], moves[:, [start]].toarray()[:, 0]
        visits = np.ones(self.states)
        if len(others) <= DIRECT:
            visits[others] = np.atleast_1d(spsolve(system.tocsc(), right))
        else:
            visits[others] = _solved(system, right)
        return np.maximum(visits, 0.0)

    def _moves(self) -> csr_array:
        """[states, states] the weight with which a visit of column h brings a visit of row g."""
        rows = [self.arc_target, self.backoff[1:]]
        columns = [self.source, np.arange(1, self.states, dtype=np.int32)]
        weights = [self.arc_prob, self.failure[1:]]
        if self.reading == "failure":
            upper = np.flatnonzero(self.arc_lower >= 0)
            lower = self.arc_lower[upper]
            rows.append(self.arc_target[lower])
            columns.append(self.source[upper])
            weights.append(-self.failure[self.source[upper]] * self.arc_prob[lower])
        cells = (np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns)))
        return csr_array(cells, shape=(self.states, self.states))

    @cached_property
    def flow(self) -> Floats:
        """[arcs] how often a sentence takes each arc on average.

        Under the failure reading, arc (b, w) is open only to those visits of b that did not come from a history
        with an arc for w: c(w | b) · (W(b) − Σ_{h: b(h) = b, hw kept} failure(h) W(h)).
        """
        open_visits = self.expected_visits[self.source]
        if self.reading == "failure":
            upper = np.flatnonzero(self.arc_lower >= 0)
            shut = self.failure[self.source[upper]] * self.expected_visits[self.source[upper]]
            open_visits = open_visits - np.bincount(self.arc_lower[upper], shut, minlength=self.arcs)
        return np.asarray(np.maximum(self.arc_prob * open_visits, 0.0))

    def word_logprobs(self, text: Text) -> Floats:
        """log p of each token of `text.tokens` given those before it, ends of sentences included; the first is 0.

        Unknown words are scored as `<unk>` if the model has this symbol, and as -inf otherwise.
        """
        tokens = text.encoded_by(self.words, unknown=self.words.index(UNKNOWN))
        if self.reading == "failure":
            return np.asarray(score_failure(self._scoring, tokens))
        logs: Floats = score_epsilon(
            self.initial, self.backoff, self.failure, self.arc_start, self.arc_word, self.arc_prob,
            self.arc_target, tokens,
        )  # fmt: skip
        return logs

    def logprobs(self, sentences: Iterable[SentenceLike] | Text) -> Floats:
        """log p of each sentence."""
        text = sentences if isinstance(sentences, Text) else Text.of(sentences)
        return np.add.reduceat(self.word_logprobs(text), text.start[:-1]) if len(text) else np.zeros(0)

    def logprob(self, sentence: SentenceLike) -> float:
        """log p of one sentence."""
        return float(self.logprobs([sentence])[0])

    def perplexity(self, sentences: Iterable[SentenceLike] | Text) -> float:
        """exp of the mean -log p per token, ends of sentences included; infinite if a sentence is impossible."""
        text = sentences if isinstance(sentences, Text) else Text.of(sentences)
        if not len(text):
            raise DataError("a text without sentences has no perplexity")
        return float(np.exp(-self.word_logprobs(text)[1:].mean()))

    def score(self, sentences: Iterable[SentenceLike] | Text) -> TextScore:
        """Perplexities of a text, per token and per sentence, with and without its unknown words.

        >>> import latentgram as lg
        >>> counts = lg.NGramCounts.of(lg.Text.of(["a rose is a rose", "a rose is red"]), order=2)
        >>> model = lg.fit(lg.BackoffNGram, counts, by=lg.Counting(smoothing="witten-bell"))
        >>> print(model.score(["a pen is red"]))
        perplexity 5.03 per token, 2.54 without unknown words; 5 tokens in 1 sentences, 1 unknown
        """
        text = sentences if isinstance(sentences, Text) else Text.of(sentences)
        return TextScore.of(self.word_logprobs(text)[1:], self.unknown_tokens(text)[1:], len(text))

    def query(self, grams: Iterable[str | Sequence[str]]) -> Floats:
        """log p of the last word of each n-gram given those before it, backing off where it must.

        n-grams may be of any length; a string is split at spaces, `<s>` begins a sentence, `</s>` ends one.

        >>> import latentgram as lg
        >>> counts = lg.NGramCounts.of(lg.Text.of(["a rose is a rose", "a rose is red"]), order=2)
        >>> model = lg.fit(lg.BackoffNGram, counts, by=lg.Counting(smoothing="witten-bell"))
        >>> np.exp(model.query(["a rose", "<s> rose", "pen"])).round(3)
        array([0.81 , 0.08 , 0.052])
        """
        given = list(grams)
        # Millions of strings may be asked for: whether all are, is asked of their types at once.
        lines = given if set(map(type, given)) <= {str} else list(map(_as_line, given))
        if lines is given or None not in lines:
            block = "\n".join(cast(list[str], lines))
            if block.count("\n") == max(len(lines) - 1, 0):
                return self.query_lines(f"{block}\n" if lines else "")
        # A word holds a blank, which a line cannot carry: the words are looked up one by one.
        names = [word for gram in given for word in (*symbols_of(gram), "")]
        numbers = self.words.encode(END if word == BEGIN else word for word in names)
        numbers[numbers < 0] = self.words.index(UNKNOWN)
        numbers[np.fromiter(map(len, names), np.int32, len(names)) == 0] = NEWLINE
        return self._gram_logprobs(numbers, len(given))

    def query_lines(self, block: str) -> Floats:
        """Like `query`, for n-grams given as lines of text: more than a million per second.

        >>> import latentgram as lg
        >>> counts = lg.NGramCounts.of(lg.Text.of(["a rose is a rose", "a rose is red"]), order=2)
        >>> model = lg.fit(lg.BackoffNGram, counts, by=lg.Counting(smoothing="witten-bell"))
        >>> np.exp(model.query_lines("a rose\\n<s> rose\\npen\\n")).round(3)
        array([0.81 , 0.08 , 0.052])
        """
        if block and not block.endswith("\n"):
            block += "\n"
        numbers = self._table.encode(block, newline=NEWLINE, grow=False)
        numbers[numbers == len(self.words)] = BOUNDARY
        numbers[numbers == -1] = self.words.index(UNKNOWN)
        return self._gram_logprobs(numbers, block.count("\n"))

    def gram_logprobs(self, grams: Ints32) -> Floats:
        """Like `query`, for n-grams of one length given as word numbers, with -1 for unknown words."""
        ended = np.column_stack([grams, np.full(len(grams), NEWLINE)])
        return self._gram_logprobs(np.ascontiguousarray(ended, np.int32).ravel(), len(grams))

    def _gram_logprobs(self, numbers: Ints32, size: int) -> Floats:
        if self.reading != "failure":
            raise SettingError(
                f"p(word | previous words) needs exact failure arcs; this automaton has the reading {self.reading}"
            )
        logs = np.empty(size)
        if (last := score_grams(self._scoring, numbers, logs)) < 0:
            raise DataError(f"n-gram {-last} has no words")
        return logs

    @cached_property
    def _scoring(self) -> Scoring:
        arc_of_word = np.full(len(self.words), -1, np.int32)
        alone = np.arange(self.arc_start[1], dtype=np.int32)
        arc_of_word[self.arc_word[alone]] = alone
        width = np.diff(self.arc_start)
        bits = max(2 * int(width[width > NARROW].sum()), 1).bit_length()
        return Scoring(
            self.initial, self.backoff, self.failure, self.arc_start, self.arc_word, self.arc_prob,
            self.arc_target, arc_of_word, wide_table(self.arc_start, self.arc_word, bits), bits,
        )  # fmt: skip

    @cached_property
    def _table(self) -> WordTable:
        """The words, and `<s>` behind them."""
        return WordTable((*self.words.symbols, BEGIN))

    def grams(self, order: int) -> Ints32:
        """[n, order] all n-grams of an order in the model, as word numbers."""
        arcs = self._arcs_of(order)
        return np.column_stack([self.history[self.source[arcs]][:, self.order - order :], self.arc_word[arcs]])

    def _arcs_of(self, order: int) -> Ints:
        return np.flatnonzero((self.history >= 0).sum(1)[self.source] == order - 1)

    def unknown_words(self, text: Text) -> int:
        """The number of tokens that are unknown to the model."""
        return int(self.unknown_tokens(text).sum())

    def unknown_tokens(self, text: Text) -> Flags:
        """Which of `text.tokens` are unknown to the model; `<unk>` itself is known."""
        return text.encoded_by(self.words) < 0

    def sample(self, sentences: int, seed: int = 0, longest: int = 1000) -> Iterator[Sentence]:
        """Sentences sampled from the model, of at most `longest` words."""
        tokens = self.sample_tokens(sentences, seed, longest)
        begin = 0
        for end in np.flatnonzero(tokens == BOUNDARY).tolist():
            if end > begin:
                yield Sentence(tuple(self.words.decode(tokens[begin:end].tolist())))
            begin = end + 1

    def sample_tokens(self, sentences: int, seed: int = 0, longest: int = 1000) -> Ints32:
        """The same as word numbers, a boundary after each sentence."""
        check_number("sentences", sentences, MOST_DRAWN)
        total = np.cumsum(self.arc_prob)
        before = np.concatenate([[0.0], total])[self.arc_start[:-1]]
        tokens: Ints32 = sample_walks(
            self.initial, self.backoff, self.arc_start, self.arc_word, total - before[self.source],
            self.arc_target, self.reading == "failure", sentences, seed, longest,
        )  # fmt: skip
        return tokens

    def to_arpa(self, path: PathLike) -> None:
        """Write an ARPA file, which requires the failure reading; `latentgram.read_arpa` reads it."""
        write_arpa(self.arpa(), path)

    def arpa(self) -> Arpa:
        """The n-grams as an ARPA file lists them."""
        if self.reading != "failure":
            raise SettingError(
                f"an ARPA file needs exact failure arcs; this automaton has the reading {self.reading}: "
                "build it with the failure reading, or export to OpenFst"
            )
        length = (self.history >= 0).sum(1)
        orders = range(1, self.order + 1)
        trie, rows = NGramTrie.of([self.grams(order) for order in orders], len(self.words))
        logprob, backoff = np.full(len(trie), LEAST_LOG), np.zeros(len(trie))
        for order, row in zip(orders, rows, strict=True):
            logprob[row] = logs(self.arc_prob[self._arcs_of(order)])
        for order in range(1, self.order):
            states = np.flatnonzero(length == order)
            row = trie.find(self.history[states][:, self.order - 1 - order :])
            backoff[row] = logs(self.failure[states])
        return Arpa(self.words, trie, logprob, backoff)

    def to_openfst(self, path: PathLike) -> None:
        """Write an acceptor in OpenFst's text format, and its symbol table to a second file (`.syms`).

        Arcs to the shorter history are labelled `<phi>` under the failure reading (for OpenFst's phi matcher),
        otherwise `<eps>`; weights are −log p. The first line starts at the initial state, as OpenFst requires; the
        boundary `</s>` leads to the only final state.
        """
        label = PHI if self.reading == "failure" else EPSILON
        final, symbols = self.states, self.words.symbols
        with np.errstate(divide="ignore"):
            weight, down = -np.log(self.arc_prob), -np.log(self.failure)

        def arcs() -> Iterator[Arc]:
            for state in (self.initial, *(state for state in range(self.states) if state != self.initial)):
                for arc in range(int(self.arc_start[state]), int(self.arc_start[state + 1])):
                    word = int(self.arc_word[arc])
                    target = final if word == BOUNDARY else int(self.arc_target[arc])
                    yield state, target, symbols[word], float(weight[arc])
                if state > 0 and self.failure[state] > 0:
                    yield state, int(self.backoff[state]), label, float(down[state])

        write_openfst(path, symbols, arcs(), [(final, 0.0)])

    def summary(self) -> str:
        """One line about the size."""
        return (
            f"back-off {self.order}-gram automaton ({self.reading}) with {self.states:,} histories, "
            f"{self.arcs:,} arcs and {len(self.words) - 1:,} words"
        )


def _solved(system: csr_array, right: Floats) -> Floats:
    """x with (I − M) x = r by BiCGSTAB; where that breaks down, it starts anew after some sweeps x ← r + M x."""
    found = np.zeros(len(right))
    for _ in range(RESTARTS):
        found, fault = bicgstab(system, right, x0=found, rtol=1e-13, atol=0.0, maxiter=5000)
        if not fault:
            return np.asarray(found)
        for _ in range(SWEEPS):
            found = right + found - system @ found
    raise DataError("expected visits of the n-gram automaton do not converge: does it ever end a sentence?")


def _as_line(gram: str | Sequence[str]) -> str | None:
    """An n-gram as a line of words; None where a word holds a blank or nothing."""
    if isinstance(gram, str):
        return gram
    line = " ".join(gram)
    return line if len(line.split()) == len(gram) else None
