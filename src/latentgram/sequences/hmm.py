"""`HMM`: a hidden Markov model of tagged text, of order 2 (each tag given the one before) or 3.

    p(w, t) = ∏_i p(t_i | t_{i-m} … t_{i-1}) p(w_i | t_i),   with the boundary as tag 0 before and after

Emissions are sparse: a word has entries only for its possible tags, so a tag dictionary makes everything faster.
Tagging costs O(K²) per word with K tags per word (K³ for order 3). Unknown words are emitted with the weights
`unknown`, which are those of words seen once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Annotated

import numpy as np

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.constraints import Constraints
from latentgram.data.files import PathLike
from latentgram.data.invariants import ANY, NONNEGATIVE, below, holds, offsets, shape
from latentgram.data.ngrams.counts import UNKNOWN
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.sentence import Sentence, SentenceLike, symbols_of
from latentgram.data.text import BOUNDARY, Text
from latentgram.errors import MOST_DRAWN, MOST_LISTED, DataError, NoParse, SettingError, check_number
from latentgram.kinds.tagging import Tagging, check_decoder
from latentgram.sequences.automaton import OperatorAutomaton
from latentgram.sequences.kernels.chain import Chain, Sequences, expect
from latentgram.sequences.kernels.chain_paths import best_paths, k_best_paths, sample_paths, sample_sentences
from latentgram.sequences.openfst import EPSILON, Arc, cost, write_openfst

_TOGETHER = 2000


@dataclass(frozen=True, repr=False)
class HMM(Summarised):
    """A hidden Markov model.

    >>> from latentgram.data.text import END
    >>> hmm = HMM(
    ...     tags=Alphabet((END, "D", "N")), words=Alphabet((END, "dog", "the")),
    ...     transition=np.array([[0, 0.8, 0.2], [0, 0, 1], [1, 0, 0.0]]),
    ...     emit_start=np.array([0, 1, 2, 3]), emit_tag=np.array([0, 2, 1], np.int32),
    ...     emit_prob=np.array([1.0, 1.0, 1.0]), unknown=np.array([0, 0, 0.1]))
    >>> hmm.tag("the dog").tags, round(float(np.exp(hmm.logprob("the dog"))), 3), hmm.tag("the cat").unknown
    (('D', 'N'), 0.8, (False, True))
    """

    tags: Annotated[Alphabet, holds("len(tags) > 0", "lacks the boundary")]
    """The boundary, then the tags."""
    words: Annotated[Alphabet, holds("len(words) > 0", "lacks the boundary")]
    """The boundary, then the words."""
    transition: Annotated[Floats, shape("len(tags) ** (order - 1)", "len(tags)"), NONNEGATIVE]
    """[T^m, T] p(next tag | the last m tags, read as a number in base T)."""
    emit_start: Annotated[Ints, shape("len(words) + 1"), offsets("emit_tag")]
    """[words + 1] word w has the entries `emit_start[w] : emit_start[w + 1]`."""
    emit_tag: Annotated[Ints32, shape(ANY), below("len(tags)")]
    emit_prob: Annotated[Floats, shape("len(emit_tag)"), NONNEGATIVE]
    """p(word | tag) of each entry."""
    unknown: Annotated[Floats, shape("len(tags)"), NONNEGATIVE]
    """[T] the weight with which each tag emits a word never seen."""
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def order(self) -> int:
        """2 if a tag depends on the previous tag, 3 if it depends on the previous two."""
        return 2 if self.transition.shape[0] == self.transition.shape[1] else 3

    @property
    def states(self) -> int:
        """The number of tags, without the boundary."""
        return len(self.tags) - 1

    @property
    def is_distribution(self) -> bool:
        """Whether the emission probabilities of each tag, including that of unknown words, sum to at most one.

        This holds if unknown words are a separate class (`unknown="class"` of the learners); otherwise each of
        them has the weight of a rare word, in addition to the known words.
        """
        emitted = np.bincount(self.emit_tag, self.emit_prob, len(self.tags)) + self.unknown
        return bool((emitted <= 1.0 + 1e-9).all())

    @cached_property
    def _log_transition(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.transition)

    def tag(self, sentence: SentenceLike, decoder: str = "posterior", known: Constraints | None = None) -> Tagging:
        """The tags of a sentence: each the most probable (posterior) or all together (viterbi).

        `known` may contain required and forbidden tags; other constraints are ignored.
        """
        check_decoder(decoder)
        given = Sentence.of(sentence)
        return next(self._tag([given], decoder, self.lattice([given]).within(known, self.tags)))

    def tag_all(self, sentences: Iterable[SentenceLike], decoder: str = "posterior") -> Iterator[Tagging]:
        """Tag many sentences, lazily, a few thousand at a time."""
        check_decoder(decoder)
        stream = map(Sentence.of, sentences)
        while chunk := list(islice(stream, _TOGETHER)):
            yield from self._tag(chunk, decoder, self.lattice(chunk))

    def _tag(self, sentences: Sequence[Sentence], decoder: str, lattice: Lattice) -> Iterator[Tagging]:
        posterior, logs = self.posteriors(lattice)
        for sentence, log in zip(sentences, logs, strict=True):
            if log == -np.inf:
                raise _impossible(sentence)
        if decoder == "viterbi":
            chosen = best_paths(
                self._log_transition, lattice.start, lattice.tag, lattice.log_prob, lattice.tokens,
                lattice.begin, lattice.end,
            )  # fmt: skip
        else:
            chosen = lattice.best(posterior)
        confidence = lattice.of_tags(posterior, chosen)
        names = self.tags.decode(chosen.tolist())
        for sentence, begin, end, log in zip(sentences, lattice.begin, lattice.end, logs, strict=True):
            yield Tagging(
                sentence.words,
                tuple(names[begin:end]),
                tuple(confidence[begin:end].tolist()),
                float(log),
                tuple((lattice.numbers[begin:end] < 0).tolist()),
            )

    def nbest(self, sentence: SentenceLike, k: int, known: Constraints | None = None) -> list[Tagging]:
        """The k best tag sequences, best first, or all of them if there are fewer."""
        check_number("sequences of tags", k, MOST_LISTED)
        given = Sentence.of(sentence)
        lattice = self.lattice([given]).within(known, self.tags)
        paths = k_best_paths(self._log_transition, lattice.start, lattice.tag, lattice.log_prob, lattice.tokens, k)
        if not len(paths):
            raise _impossible(given)
        return self._listed(given, lattice, paths)

    def sample_tags(
        self, sentence: SentenceLike, samples: int, seed: int = 0, known: Constraints | None = None
    ) -> list[Tagging]:
        """Tag sequences sampled from p(tags | words)."""
        check_number("samples", samples, MOST_LISTED)
        given = Sentence.of(sentence)
        lattice = self.lattice([given]).within(known, self.tags)
        uniform = np.random.default_rng(seed).random((samples, len(lattice.numbers)))
        paths = sample_paths(self.transition, lattice.start, lattice.tag, lattice.prob, lattice.tokens, uniform)
        if not len(paths):
            raise _impossible(given)
        return self._listed(given, lattice, paths)

    def _listed(self, sentence: Sentence, lattice: Lattice, paths: Ints32) -> list[Tagging]:
        """Tag sequences of a sentence with their probabilities and the posteriors of their tags."""
        posterior, (log,) = self.posteriors(lattice)
        unknown = tuple((lattice.numbers < 0).tolist())
        return [
            Tagging(
                sentence.words,
                tuple(self.tags.decode(path.tolist())),
                tuple(lattice.of_tags(posterior, path).tolist()),
                float(log),
                unknown,
                self._joint(lattice, path) - float(log),
            )
            for path in paths
        ]

    def _joint(self, lattice: Lattice, path: Ints32) -> float:
        """log p(words, tags)."""
        total, state = float(np.log(lattice.of_tags(lattice.prob, path)).sum()), 0
        for tag in (*path.tolist(), BOUNDARY):
            total += self._log_transition[state, tag]
            state = (state * len(self.tags) + tag) % self.transition.shape[0]
        return float(total)

    def sample(self, sentences: int, seed: int = 0) -> Iterator[Sentence]:
        """Tagged sentences sampled from the model."""
        words, tags = self.sample_tokens(sentences, seed)
        begin = 0
        for end in np.flatnonzero(tags == BOUNDARY).tolist():
            drawn = slice(begin, end)
            yield Sentence(
                tuple(self.words.decode(words[drawn].tolist())), tuple(self.tags.decode(tags[drawn].tolist()))
            )
            begin = end + 1

    def sample_tokens(self, sentences: int, seed: int = 0) -> tuple[Ints32, Ints32]:
        """The same as numbers of words and of tags, a boundary after each sentence."""
        check_number("sentences", sentences, MOST_DRAWN)
        by_tag = np.argsort(self.emit_tag, kind="stable")
        first = np.searchsorted(self.emit_tag[by_tag], np.arange(len(self.tags) + 1))
        word_of = np.repeat(np.arange(len(self.words), dtype=np.int32), np.diff(self.emit_start))[by_tag]
        mass = np.concatenate([[0.0], np.cumsum(self.emit_prob[by_tag])])
        words, tags = sample_sentences(np.cumsum(self.transition, axis=1), first, word_of, mass, sentences, seed)
        return words, tags

    def logprob(self, sentence: SentenceLike) -> float:
        """log p(words), summed over all tag sequences; -inf for an impossible sentence."""
        return float(self.posteriors(self.lattice([Sentence.of(sentence)]))[1][0])

    def loglik(self, text: Text) -> float:
        """log p of a whole text."""
        total = 0.0
        for begin in range(0, len(text), _TOGETHER):
            chunk = [text[i] for i in range(begin, min(begin + _TOGETHER, len(text)))]
            total += float(self.posteriors(self.lattice(chunk))[1].sum())
        return total

    def lattice(self, sentences: Sequence[Sentence]) -> Lattice:
        """The possible tags of each word of some sentences, with their emission probabilities."""
        numbers = np.concatenate([np.zeros(0, np.int32), *(self.words.encode(item.words) for item in sentences)])
        numbers[numbers == BOUNDARY] = -1
        end = np.cumsum([len(sentence) for sentence in sentences], dtype=np.int64)
        open_tags = np.flatnonzero(self.unknown > 0).astype(np.int32)
        known = numbers >= 0
        size = np.where(known, np.diff(self.emit_start)[numbers], len(open_tags))
        start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        within = np.arange(start[-1]) - np.repeat(start[:-1], size)
        copied = np.repeat(known, size)
        entry = (np.repeat(np.where(known, self.emit_start[numbers], 0), size) + within)[copied]
        tag, prob = np.empty(start[-1], np.int32), np.empty(start[-1])
        tag[copied], prob[copied] = self.emit_tag[entry], self.emit_prob[entry]
        tag[~copied] = open_tags[within[~copied]]
        prob[~copied] = self.unknown[tag[~copied]]
        return Lattice(numbers, np.concatenate([[0], end[:-1]]), end, start, tag, prob)

    def posteriors(self, lattice: Lattice) -> tuple[Floats, Floats]:
        """p(tag | sentence) of each entry of a lattice, and log p of each sentence.

        The lattice has one row of emissions per token, so expected counts of emissions are posteriors of tokens.
        """
        chain = Chain(self.transition, lattice.start, lattice.tag, lattice.prob)
        counts = chain._replace(transition=np.zeros_like(self.transition), prob=np.zeros_like(lattice.prob))
        ends = np.zeros(len(lattice.begin), np.int64)
        sentences = Sequences(lattice.tokens, lattice.begin, lattice.end, ends, ends, np.ones(len(ends)))
        logs = expect(chain, sentences, counts)
        return np.minimum(counts.prob, 1.0), logs

    def tag_posteriors(self, sentence: SentenceLike) -> Floats:
        """[words, tags] p(tag | sentence) of every tag of every word, tags numbered as in `tags`, but from 0."""
        words = Sentence.of(sentence)
        lattice = self.lattice([words])
        posterior, (log,) = self.posteriors(lattice)
        if log == -np.inf:
            raise _impossible(words)
        return lattice.table(posterior, len(self.tags))[:, 1:]

    def next_words(self, prefix: str | Sequence[str] = ()) -> dict[str | None, float]:
        """The next word after the first words of a sentence: p(word), and p(end) as None, most probable first.

        `<unk>` is any unknown word.

        >>> import latentgram as lg
        >>> sentences = [[("the", "D"), ("dog", "N")], [("the", "D"), ("cat", "N"), ("sleeps", "V")]]
        >>> hmm = lg.fit(lg.HMM, sentences, by=lg.Counting(transition_prior=0.0, unknown="class"))
        >>> {word: round(p, 2) for word, p in hmm.next_words(["the", "dog"]).items() if p}
        {None: 0.5, 'sleeps': 0.25, '<unk>': 0.25}
        """
        tags, words = len(self.tags), tuple(symbols_of(prefix))
        state = np.zeros(len(self.transition))
        state[0] = 1.0
        lattice = self.lattice([Sentence(words)] if words else [])
        for emission in lattice.table(lattice.prob, tags):
            # State p·T + u mod T^m follows state p by tag u.
            state = (state[:, None] * self.transition * emission).reshape(tags, -1).sum(0)
            if not state.sum() > 0:
                raise _impossible(Sentence(words))
            state /= state.sum()
        tag = state @ self.transition
        word_of = np.repeat(np.arange(len(self.words)), np.diff(self.emit_start))
        shares = np.bincount(word_of, self.emit_prob * tag[self.emit_tag], minlength=len(self.words))
        shares = np.append(shares, tag @ self.unknown)
        shares[BOUNDARY] = tag[BOUNDARY]
        names = (None, *self.words.symbols[1:], UNKNOWN)
        order = np.argsort(-shares, kind="stable").tolist()
        return {names[place]: float(shares[place]) for place in order}

    def automaton(self) -> OperatorAutomaton:
        """The same distribution over words as an operator automaton: A_a = Tᵀ diag(o_a)."""
        if self.order != 2:
            raise SettingError("only an HMM of order 2 can be written as an automaton")
        emission = np.zeros((len(self.words), len(self.tags)))
        emission[np.repeat(np.arange(len(self.words)), np.diff(self.emit_start)), self.emit_tag] = self.emit_prob
        # The state is a distribution over the next tag; a string ends when that is the boundary.
        return OperatorAutomaton(
            Alphabet(self.words.symbols[1:]),
            self.transition[0],
            np.eye(len(self.tags))[BOUNDARY],
            np.ascontiguousarray(self.transition.T[None] * emission[1:, None, :]),
        )

    def to_openfst(self, path: PathLike) -> None:
        """Write a transducer from words to tags in OpenFst's text format, and its symbols to `.syms`.

        The sum over the paths of a sentence is its probability; the best path gives its tags. A state is the
        history of the next tag; an `<eps>` arc chooses that tag, and the following arc its word, with `<unk>` for
        unknown words. Weights are −log p.
        """
        tags, size = len(self.tags), len(self.transition)
        by_tag = np.argsort(self.emit_tag, kind="stable")
        first = np.searchsorted(self.emit_tag[by_tag], np.arange(tags + 1))
        word_of = np.repeat(np.arange(len(self.words)), np.diff(self.emit_start))

        def arcs() -> Iterator[Arc]:
            # State p before the tag is chosen has number p, and `size + p` when its last tag is to emit a word.
            for state, following in np.argwhere(self.transition > 0).tolist():
                if following != BOUNDARY:
                    after = (state * tags + following) % size
                    yield state, size + after, EPSILON, cost(self.transition[state, following])
            for state in range(1, size):
                tag = state % tags
                if tag == BOUNDARY:
                    continue
                for entry in by_tag[first[tag] : first[tag + 1]].tolist():
                    if self.emit_prob[entry] > 0:
                        label = self.words[int(word_of[entry])], self.tags[tag]
                        yield size + state, state, label, cost(self.emit_prob[entry])
                if self.unknown[tag] > 0:
                    yield size + state, state, (UNKNOWN, self.tags[tag]), cost(self.unknown[tag])

        ends = [(state, cost(p)) for state, p in enumerate(self.transition[:, BOUNDARY].tolist()) if p > 0]
        write_openfst(path, (*self.words.symbols[1:], UNKNOWN, *self.tags.symbols[1:]), arcs(), ends)

    def renamed(self, names: dict[str, str]) -> HMM:
        """The same model with other names for its tags; several tags may have the same name."""
        tags = (self.tags[0], *(names.get(tag, tag) for tag in self.tags.symbols[1:]))
        return replace(self, tags=Alphabet(tags))

    def summary(self) -> str:
        """One line about the size."""
        return (
            f"HMM of order {self.order} with {self.states} tags, {len(self.words) - 1:,} words and "
            f"{len(self.emit_prob) - 1:,} emissions"
        )


def _impossible(sentence: Sentence) -> DataError:
    """Without pseudo-counts there are sentences that no sequence of tags can explain."""
    more = " …" if len(sentence) > 8 else ""
    return DataError(f"the HMM gives probability zero to {' '.join(sentence.words[:8]) + more!r}")


@dataclass(frozen=True)
class Lattice:
    """Sentences as rows of possible tags, one row per token (see kernels/chain.py)."""

    numbers: Ints32
    """[tokens] word numbers, -1 for unknown."""
    begin: Ints
    end: Ints
    start: Ints
    tag: Ints32
    prob: Floats

    @property
    def tokens(self) -> Ints32:
        """Tokens numbered: each is its own word."""
        return np.arange(len(self.numbers), dtype=np.int32)

    @property
    def log_prob(self) -> Floats:
        """The logarithms of the emissions."""
        with np.errstate(divide="ignore"):
            return np.log(self.prob)

    def within(self, known: Constraints | None, tags: Alphabet) -> Lattice:
        """The lattice of a single sentence without the tags that constraints rule out."""
        if not known:
            return self
        known.fit(len(self.numbers))
        prob, token = self.prob.copy(), np.repeat(self.tokens, np.diff(self.start))
        names = np.array(tags.symbols, object)[self.tag]
        for word, tag in known.tags:
            prob[(token == word) & (names != tag)] = 0.0
        for word, tag in known.forbidden_tags:
            prob[(token == word) & (names == tag)] = 0.0
        for word, possible in enumerate(np.bincount(token, prob > 0.0, minlength=len(self.numbers)).tolist()):
            if not possible:
                raise NoParse(f"no possible tag of word {word} satisfies: {known}")
        return replace(self, prob=prob)

    def table(self, weight: Floats, tags: int) -> Floats:
        """[tokens, tags] the weights of the entries, 0 where a token has none."""
        table = np.zeros((len(self.numbers), tags))
        table[np.repeat(self.tokens, np.diff(self.start)), self.tag] = weight
        return table

    def best(self, weight: Floats) -> Ints32:
        """The tag of the greatest weight of each token, the first among equals."""
        order = np.lexsort((self.tag, -weight, np.repeat(self.tokens, np.diff(self.start))))
        return self.tag[order[self.start[:-1]]]

    def of_tags(self, weight: Floats, tags: Ints32) -> Floats:
        """The weight of a given tag of each token."""
        chosen = self.tag == np.repeat(tags, np.diff(self.start))
        return np.asarray(np.bincount(np.repeat(self.tokens, np.diff(self.start))[chosen], weight[chosen]))
