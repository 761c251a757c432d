"""`Tagger`: part-of-speech tags of words by a log-linear model of second order over features of word forms.

    p(t | x) ∝ exp Σ_i ( Σ_f weight[f(x, i), t_i] + pair[t_{i−1}, t_i] + triple[t_{i−2}, t_{i−1}, t_i] )

Words seen often can only have tags they were seen with; others have those and the open classes. So a token has
few candidates, and the best sequence and all posteriors are exact (kernels/chain.py). A tag is a pair of a fine
(XPOS) and a coarse (UPOS) one where training had both: both are predicted together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.brackets import escape
from latentgram.data.constraints import Constraints
from latentgram.data.invariants import ANY, FINITE, below, holds, offsets, rising, shape, within
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.sentence import Sentence, SentenceLike
from latentgram.errors import NoParse, SettingError
from latentgram.sequences.tagging import Tagging
from latentgram.tagger.kernels.chain import emission_scores, expectations, tag_sentences
from latentgram.tagger.kernels.features import find_rows
from latentgram.tagger.kernels.paths import k_best_tags, path_scores, sample_tags
from latentgram.tagger.spelling import SpellingTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
KNOWN = "max(candidates.tag.max(initial=0), candidates.open.max(initial=0)) < len(xpos)"

TOGETHER = 1000
"""Sentences tagged at a time."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Which tags a word may have.

    Tag numbers `tag[start[w] : start[w + 1]]` were seen with word w; if it is not `closed`, the `open` ones too.
    """

    words: Alphabet
    start: Annotated[Ints, shape("len(words) + 1"), offsets("tag")]
    tag: Annotated[NDArray[np.int16], shape(ANY), within(0, 2**15)]
    closed: Annotated[
        NDArray[np.bool_], shape("len(words)"), holds("all(diff(start)[closed] > 0)", "leaves a word without tags")
    ]
    open: Annotated[NDArray[np.int16], shape(ANY), within(0, 2**15), holds("len(open) > 0", "is empty")]

    def of(self, word: str) -> NDArray[np.int16]:
        """The candidates of a word, in order; a word never seen may be known in lower case or by its Penn name."""
        number = self.words.index(word)
        if number < 0:
            number = self.words.index(escape(word))
        if number < 0:
            return self.open
        seen = self.tag[self.start[number] : self.start[number + 1]]
        if self.closed[number]:
            return seen
        extra = [tag for tag in seen.tolist() if tag not in self._open]
        return np.sort(np.append(self.open, extra).astype(np.int16)) if extra else self.open

    @cached_property
    def _open(self) -> frozenset[int]:
        return frozenset(self.open.tolist())

    def of_tokens(self, forms: SpellingTable, token: Ints) -> tuple[Ints, NDArray[np.int16]]:
        """The candidates of tokens end to end, and where those of each begin."""
        each = [self.of(word) for word in forms.words]
        sizes = np.array([len(tags) for tags in each])
        begin = np.concatenate([[0], np.cumsum(sizes)])
        start = np.concatenate([[0], np.cumsum(sizes[token])])
        flat = np.concatenate(each)
        place = np.arange(start[-1]) - np.repeat(start[:-1], sizes[token]) + np.repeat(begin[token], sizes[token])
        return start, flat[place]


@dataclass(frozen=True, eq=False, repr=False)
class Tagger(Summarised):
    """A tagger; `xpos[i]` and `upos[i]` are the two sides of tag i, empty where training had none.

    >>> import latentgram as lg
    >>> train = lg.demo_dependencies(200, seed=0)
    >>> tagger = lg.fit(lg.Tagger, train, by=lg.Gradient(passes=3))
    >>> tagger.tag(train[0].sentence.without_tags()).tags == train[0].xpos
    True
    """

    xpos: tuple[str, ...]
    upos: Annotated[tuple[str, ...], holds("len(upos) == len(xpos)", "does not fit xpos")]
    candidates: Annotated[Candidates, holds(KNOWN, "speaks of tags that are not there")]
    feature: Annotated[NDArray[np.uint64], shape(ANY), rising()]
    """The known features, sorted."""
    row_start: Annotated[Ints, shape("len(feature) + 1"), offsets("row_tag")]
    row_tag: Annotated[NDArray[np.int16], shape(ANY), below("len(xpos)")]
    row_weight: Annotated[NDArray[np.float32], shape("len(row_tag)"), FINITE]
    """The weights of feature f: `row_weight[row_start[f] : row_start[f + 1]]`, for the tags in `row_tag`."""
    pair: Annotated[NDArray[np.float32], shape("len(xpos) + 1", "len(xpos) + 1"), FINITE]
    triple: Annotated[NDArray[np.float32], shape(ANY), FINITE, holds("len(triple) > 0", "is empty")]
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def tags(self) -> tuple[str, ...]:
        """The names of the tags, the fine ones where there are any."""
        return tuple(fine or coarse for fine, coarse in zip(self.xpos, self.upos, strict=True))

    def summary(self) -> str:
        """One line."""
        sizes = f"{len(self.feature):,} features and {len(self.row_weight):,} weights"
        return f"tagger with {len(self.xpos)} tags, {sizes}"

    def tag(self, sentence: SentenceLike, decoder: str = "viterbi", known: Constraints | None = None) -> Tagging:
        """The best tags of a sentence with their posteriors; of what is `known` the tags count."""
        given = [Sentence.of(sentence)]
        return next(self._taggings(given, self._best(given, decoder, [known])))

    def tag_all(self, sentences: Iterable[SentenceLike], decoder: str = "viterbi") -> Iterator[Tagging]:
        """Tag many sentences, lazily; each tag the most probable (`posterior`), or the best sequence."""
        stream = map(Sentence.of, sentences)
        while chunk := list(islice(stream, TOGETHER)):
            yield from self._taggings(chunk, self._best(chunk, decoder))

    def _taggings(
        self, sentences: Sequence[Sentence], best: Iterator[tuple[list[int], list[float]]]
    ) -> Iterator[Tagging]:
        for sentence, (numbers, sure) in zip(sentences, best, strict=True):
            names = self.tags
            yield Tagging(
                sentence.words,
                tuple(names[number] for number in numbers),
                tuple(sure),
                np.nan,
                tuple(word not in self.candidates.words for word in sentence.words),
            )

    def annotate(
        self, sentences: Sequence[Sentence], known: Sequence[Constraints | None] = ()
    ) -> list[tuple[Sentence, Floats]]:
        """Sentences with tags in place of what they had, and the posterior of each tag."""
        fine, coarse = any(self.xpos), any(self.upos)
        found = []
        for sentence, (numbers, sure) in zip(sentences, self._best(sentences, "viterbi", known), strict=True):
            xpos = tuple(self.xpos[number] for number in numbers) if fine else None
            upos = tuple(self.upos[number] for number in numbers) if coarse else None
            found.append((Sentence(sentence.words, xpos, upos, sentence.space_after), np.array(sure)))
        return found

    def nbest(self, sentence: SentenceLike, k: int, known: Constraints | None = None) -> list[Tagging]:
        """The k best sequences of tags, best first; fewer where there are fewer. Exact.

        Where tags have a fine and a coarse side, two sequences may differ in the coarse one only.

        >>> import latentgram as lg
        >>> tagger = lg.fit(lg.Tagger, lg.demo_dependencies(200, seed=0), by=lg.Gradient(passes=3))
        >>> first, second = tagger.nbest("the old man saw it .", 2)
        >>> first.tags == tagger.tag("the old man saw it .").tags, first.tags_logprob > second.tags_logprob
        (True, True)
        """
        if k < 1:
            raise SettingError(f"a list of the best needs at least 1, got {k}")
        lattice = self._lattice(Sentence.of(sentence), known)
        paths, _ = k_best_tags(*lattice[1:], self.pair, self.triple, len(self.xpos), k)
        return self._listed(*lattice, paths)

    def sample_tags(
        self, sentence: SentenceLike, samples: int, seed: int = 0, known: Constraints | None = None
    ) -> list[Tagging]:
        """Sequences of tags drawn from p(tags | words)."""
        if samples < 1:
            raise SettingError(f"the number of samples must be at least 1, got {samples}")
        lattice = self._lattice(Sentence.of(sentence), known)
        uniform = np.random.default_rng(seed).random((samples, len(lattice[0])))
        drawn = sample_tags(*lattice[1:], self.pair, self.triple, self._factor, len(self.xpos), uniform)
        return self._listed(*lattice, drawn)

    def _lattice(
        self, sentence: Sentence, known: Constraints | None
    ) -> tuple[Sentence, Ints, NDArray[np.int16], Floats]:
        """A sentence, where the candidates of each token begin, their tags, and the scores of their features."""
        _, start, tag, rows = self._candidates([sentence], [known])
        score, spare = np.empty(len(tag)), np.empty(len(self.xpos))
        emission_scores(
            rows, 0, len(sentence), self.row_start, self.row_tag, self.row_weight, start, tag, len(self.xpos),
            score, spare,
        )  # fmt: skip
        return sentence, start, tag, score

    def _listed(
        self, sentence: Sentence, start: Ints, tag: NDArray[np.int16], score: Floats, paths: Ints
    ) -> list[Tagging]:
        """Sequences, as numbers of candidates, with their probabilities and the posteriors of their tags."""
        posterior, n_tags = np.zeros(len(tag)), len(self.xpos)
        log_total, _ = expectations(
            0, len(sentence), start, tag, score, self.pair, self._factor, n_tags,
            posterior, self.pair, np.zeros(0), np.zeros(0, np.int64),
        )  # fmt: skip
        places = start[:-1] + paths
        scores = path_scores(paths, start, tag, score, self.pair, self.triple, n_tags)
        unknown = tuple(word not in self.candidates.words for word in sentence.words)
        return [
            Tagging(
                sentence.words,
                tuple(self.tags[number] for number in tag[place].tolist()),
                tuple(np.minimum(posterior[place], 1.0).tolist()),
                np.nan,
                unknown,
                float(value - log_total),
            )
            for place, value in zip(places, scores, strict=True)
        ]

    def posteriors(self, sentence: SentenceLike, known: Constraints | None = None) -> Floats:
        """[words, tags] p(tag | sentence), and what is known of it."""
        given = Sentence.of(sentence)
        start, tag, (_, posterior, _) = self._run([given], [known])
        result = np.zeros((len(given), len(self.xpos)))
        result[np.repeat(np.arange(len(given)), np.diff(start)), tag] = posterior
        return result

    def _best(
        self, sentences: Sequence[Sentence], decoder: str, known: Sequence[Constraints | None] = ()
    ) -> Iterator[tuple[list[int], list[float]]]:
        start, tag, (path, posterior, _) = self._run(sentences, known)
        if decoder == "posterior":
            path = np.array([np.argmax(posterior[a:b]) for a, b in pairwise(start)])
        place = start[:-1] + path
        numbers, sure = tag[place].tolist(), np.minimum(posterior[place], 1.0).tolist()
        begin = 0
        for sentence in sentences:
            end = begin + len(sentence)
            yield numbers[begin:end], sure[begin:end]
            begin = end

    @cached_property
    def _factor(self) -> NDArray[np.float32]:
        return np.exp(self.triple)

    def _run(
        self, sentences: Sequence[Sentence], known: Sequence[Constraints | None] = ()
    ) -> tuple[Ints, NDArray[np.int16], Any]:
        first, start, tag, rows = self._candidates(sentences, known)
        found = tag_sentences(
            first, rows, self.row_start, self.row_tag, self.row_weight, start, tag,
            self.pair, self.triple, self._factor, len(self.xpos),
        )  # fmt: skip
        return start, tag, found

    def _candidates(
        self, sentences: Sequence[Sentence], known: Sequence[Constraints | None]
    ) -> tuple[Ints, Ints, NDArray[np.int16], NDArray[np.int32]]:
        """Where sentences begin, where the candidates of their tokens begin, these, and the tokens' features."""
        forms = SpellingTable()
        token = forms.encode(word for sentence in sentences for word in sentence.words)
        first = np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])])
        start, tag = self.candidates.of_tokens(forms, token)
        if any(known):
            start, tag = self._within(sentences, known, first, start, tag)
        return first, start, tag, find_rows(self.feature, forms.table, token, first)

    def _within(
        self,
        sentences: Sequence[Sentence],
        known: Sequence[Constraints | None],
        first: Ints,
        start: Ints,
        tag: NDArray[np.int16],
    ) -> tuple[Ints, NDArray[np.int16]]:
        """The candidates that obey: a required tag is one even of a word that never had it."""
        parts = [tag[begin:end] for begin, end in pairwise(start)]
        fine, coarse = np.array(self.xpos, object), np.array(self.upos, object)
        for sentence, begin, each in zip(sentences, first, known, strict=False):
            if not each:
                continue
            each.fit(len(sentence))
            for word, name in each.tags:
                parts[begin + word] = np.flatnonzero((fine == name) | (coarse == name)).astype(np.int16)
            for word, name in each.forbidden_tags:
                given = parts[begin + word]
                parts[begin + word] = given[(fine[given] != name) & (coarse[given] != name)]
            for word in range(len(sentence)):
                if not len(parts[begin + word]):
                    raise NoParse(f"no tag that {sentence.words[word]!r} may have obeys: {each}")
        return np.concatenate([[0], np.cumsum([len(part) for part in parts])]), np.concatenate(parts)

    def __getstate__(self) -> dict[str, Any]:
        """Travel to a worker without what can be made again."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}
