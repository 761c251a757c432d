"""`Tagger`: tags and morphological features of words by a log-linear model of second order over word forms.

    p(t | x) ∝ exp Σ_i ( e_i(t_i) + pair[t_{i−1}, t_i] + triple[g(t_{i−2}), g(t_{i−1}), g(t_i)] ),
    e_i(t) = Σ_{p ∈ parts(t)} Σ_f weight[f(x, i), p].

A tag is a triple of XPOS, UPOS and FEATS, as far as the training data have them: all are predicted together, and
the posterior of each is the sum over the tags that agree in it. Without FEATS a tag is its only part and its own
group g; with them its parts are itself, its UPOS and XPOS and each attribute (tagset.py).

Frequent words can only have tags they were seen with; others have those and the ones of words with a similar
form (guesser.py). Candidates whose score is more than `margin` below the best one of their token are pruned.
So a token has few candidates, and over them the best sequence and all posteriors are exact
(kernels/chain.py). Training and tagging share this definition of p.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import Annotated

import numpy as np

from latentgram.arrays import Codes, Flags, Floats, Floats32, Ints, Ints16, Ints32
from latentgram.data.constraints import Constraints
from latentgram.data.invariants import ANY, FINITE, below, holds, offsets, rising, shape, within
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.sentence import Sentence, SentenceLike
from latentgram.data.tokenise import words_of
from latentgram.errors import MOST_LISTED, NoParse, check_number
from latentgram.kinds.result import TagPosteriors
from latentgram.kinds.tagging import Tagging, check_decoder
from latentgram.tagger.candidates import Candidates
from latentgram.tagger.guesser import Guesser
from latentgram.tagger.kernels.chain import Steps, expectations
from latentgram.tagger.kernels.features import index_features
from latentgram.tagger.kernels.paths import k_best_tags, path_scores, sample_tags
from latentgram.tagger.kernels.scores import Rows, score_tokens, shares_of_values, tag_sentences
from latentgram.tagger.spelling import SpellingTable
from latentgram.tagger.tagset import TagSet

Tags = Ints16
Known = Sequence[Constraints | None]

TOGETHER = 1000
"""Sentences tagged at a time."""
_TAGS = "max(candidates.tag.max(initial=0), candidates.open.max(initial=0)) < len(xpos)"
_GUESSED = "guesser.tag.max(initial=0) < len(xpos)"


@dataclass(frozen=True, eq=False, repr=False)
class Tagger(Summarised):
    """A tagger; `xpos[i]`, `upos[i]` and `feats[i]` are the columns of tag i, empty if not in the training data.

    >>> import latentgram as lg
    >>> train = lg.demo_dependencies(200, seed=0)
    >>> tagger = lg.fit(lg.Tagger, train, by=lg.Gradient(passes=3))
    >>> tagging = tagger.tag(train[0].words)
    >>> tagging.xpos == train[0].xpos, tagging.upos == train[0].upos, tagging.feats
    (True, True, None)
    """

    xpos: tuple[str, ...]
    upos: Annotated[tuple[str, ...], holds("len(upos) == len(xpos)", "does not fit xpos")]
    candidates: Annotated[Candidates, holds(_TAGS, "refers to tags that do not exist")]
    feature: Annotated[Codes, shape(ANY), rising()]
    """The known features, sorted."""
    row_start: Annotated[Ints, shape("len(feature) + 1"), offsets("row_tag")]
    row_tag: Annotated[Tags, shape(ANY), below("tagset.parts.number")]
    row_weight: Annotated[Floats32, shape("len(row_tag)"), FINITE]
    """The weights of feature f: `row_weight[row_start[f] : row_start[f + 1]]`, for the parts in `row_tag`."""
    pair: Annotated[Floats32, shape("len(xpos) + 1", "len(xpos) + 1"), FINITE]
    triple: Annotated[Floats32, shape(ANY), FINITE, holds("len(triple) > 0", "is empty")]
    provenance: Provenance = field(default_factory=Provenance)
    feats: Annotated[tuple[str, ...], holds("len(feats) in (0, len(xpos))", "does not fit xpos")] = ()
    """FEATS of each tag, `_` for none; empty for a tagger without morphology."""
    guesser: Annotated[Guesser, holds(_GUESSED, "refers to tags that do not exist")] | None = None
    """Which tags words may have that were never seen; None: the open ones."""
    margin: Annotated[float, within(0, np.inf)] | None = None
    """Candidates that score so much less than the best one of their token are left out; None: all stay."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The names of the tags, the fine ones where there are any."""
        return tuple(fine or coarse for fine, coarse in zip(self.xpos, self.upos, strict=True))

    @cached_property
    def tagset(self) -> TagSet:
        """The tags with their parts and groups."""
        feats = self.feats or ("",) * len(self.xpos)
        return TagSet(tuple(zip(self.xpos, self.upos, feats, strict=True)))

    def summary(self) -> str:
        """One line."""
        sizes = f"{len(self.feature):,} features and {len(self.row_weight):,} weights"
        morphology = " (with FEATS)" if self.feats else ""
        return f"tagger with {len(self.xpos)} tags{morphology}, {sizes}"

    def scaled(self, scale: float) -> Tagger:
        """The same tagger with all scores multiplied by a number: above 1 it is more confident, below 1 less."""
        tables = {name: getattr(self, name) * np.float32(scale) for name in ("row_weight", "pair", "triple")}
        return dataclasses.replace(self, **tables, margin=None if self.margin is None else self.margin * scale)

    def tag(self, sentence: SentenceLike, decoder: str = "viterbi", known: Constraints | None = None) -> Tagging:
        """The best tags of a sentence with their posteriors; of the constraints `known` only tags apply."""
        return next(self._taggings([words_of(sentence)], decoder, [known]))

    def tag_all(
        self, sentences: Iterable[SentenceLike], decoder: str = "viterbi", known: Iterable[Constraints | None] = ()
    ) -> Iterator[Tagging]:
        """Tag many sentences, lazily; each tag the most probable (`posterior`), or the best sequence."""
        stream, told = map(words_of, sentences), iter(known)
        while chunk := list(islice(stream, TOGETHER)):
            yield from self._taggings(chunk, decoder, list(islice(told, TOGETHER)))

    def annotate(self, sentences: Sequence[Sentence], known: Known = ()) -> list[tuple[Sentence, Floats]]:
        """Sentences with new tags, and the posterior of each XPOS and UPOS together."""
        return [(tagged, sure.together) for tagged, sure in self.annotated(sentences, known)]

    def annotated(
        self, sentences: Sequence[Sentence], known: Known = ()
    ) -> Iterator[tuple[Sentence, TagPosteriors]]:
        """Sentences with new tags, and their posteriors in each column."""
        for sentence, _, columns, sure in self._best(sentences, "viterbi", known):
            xpos, upos, feats = columns
            each = {name: share for name, column, share in zip(_NAMES, columns, sure.T[1:], strict=True) if column}
            tagged = dataclasses.replace(sentence, xpos=xpos, upos=upos, feats=feats)
            yield tagged, TagPosteriors(sure[:, 0], each)

    def fill(
        self, sentences: Sequence[Sentence], known: Known
    ) -> tuple[list[Sentence], list[TagPosteriors | None]]:
        """Sentences with tags where they had none, and the confidence of these tags."""
        filled: list[Sentence] = list(sentences)
        sure: list[TagPosteriors | None] = [None] * len(filled)
        bare = [number for number, sentence in enumerate(filled) if sentence.tags is None]
        if bare:
            tagged = self.annotated([filled[i] for i in bare], [known[i] for i in bare])
            for number, (sentence, confidence) in zip(bare, tagged, strict=True):
                filled[number] = dataclasses.replace(sentence, surface=filled[number].surface)
                sure[number] = confidence
        return filled, sure

    def _taggings(self, sentences: Sequence[Sentence], decoder: str, known: Known) -> Iterator[Tagging]:
        for sentence, numbers, columns, sure in self._best(sentences, decoder, known):
            yield self._tagging(sentence, numbers, columns, sure)

    def _tagging(
        self, sentence: Sentence, numbers: list[int], columns: Columns, sure: Floats, logprob: float = np.nan
    ) -> Tagging:
        """The result for a sentence that has got these tags."""
        xpos, upos, feats = columns
        tags = self.tags
        posteriors = {
            name: tuple(share)
            for name, column, share in zip(_NAMES, columns, sure.T[1:].tolist(), strict=True)
            if column is not None
        }
        return Tagging(
            sentence.words,
            tuple([tags[number] for number in numbers]),
            tuple(sure[:, 0].tolist()),
            np.nan,
            tuple([word not in self.candidates.words for word in sentence.words]),
            logprob,
            xpos,
            upos,
            feats,
            posteriors,
        )

    def nbest(self, sentence: SentenceLike, k: int, known: Constraints | None = None) -> list[Tagging]:
        """The k best sequences of tags, best first; fewer where there are fewer. Exact.

        Where tags have several sides, two sequences may differ in UPOS or FEATS only.

        >>> import latentgram as lg
        >>> tagger = lg.fit(lg.Tagger, lg.demo_dependencies(200, seed=0), by=lg.Gradient(passes=3))
        >>> first, second = tagger.nbest("the old man saw it .", 2)
        >>> first.tags == tagger.tag("the old man saw it .").tags, first.tags_logprob > second.tags_logprob
        (True, True)
        """
        check_number("sequences of tags", k, MOST_LISTED)
        lattice = self._lattice(words_of(sentence), known)
        paths, _ = k_best_tags(*lattice[1:], self._steps, k)
        return self._listed(*lattice, paths)

    def sample_tags(
        self, sentence: SentenceLike, samples: int, seed: int = 0, known: Constraints | None = None
    ) -> list[Tagging]:
        """Tag sequences sampled from p(tags | words)."""
        check_number("samples", samples, MOST_LISTED)
        lattice = self._lattice(words_of(sentence), known)
        uniform = np.random.default_rng(seed).random((samples, len(lattice[0])))
        drawn = sample_tags(*lattice[1:], self._steps, self._exponentials, uniform)
        return self._listed(*lattice, drawn)

    def _lattice(self, sentence: Sentence, known: Constraints | None) -> tuple[Sentence, Ints, Tags, Floats]:
        """A sentence, where the candidates of each token begin, their tags, and their scores."""
        _, start, tag, score = self._scored([sentence], [known])
        kept = self._near_the_best(start, score)
        return sentence, np.concatenate([[0], np.cumsum(kept)])[start], tag[kept], score[kept]

    def _listed(self, sentence: Sentence, start: Ints, tag: Tags, score: Floats, paths: Ints) -> list[Tagging]:
        """Sequences, as numbers of candidates, with their probabilities and the posteriors of their tags."""
        posterior = np.zeros(len(tag))
        log_total, _ = expectations(
            start, tag, score, self._exponentials, posterior, np.zeros((0, 0)), np.zeros(0), np.zeros(0, np.int64)
        )
        listed = []
        for path, value in zip(paths, path_scores(paths, start, tag, score, self._steps), strict=True):
            place = start[:-1] + path
            numbers = tag[place].tolist()
            sure = shares_of_values(self._values, start, tag, place, posterior)
            columns = self._columns(numbers)
            listed.append(self._tagging(sentence, numbers, columns, sure, float(value - log_total)))
        return listed

    def posteriors(self, sentence: SentenceLike, known: Constraints | None = None) -> Floats:
        """[words, tags] p(tag | sentence, constraints)."""
        words = words_of(sentence)
        start, tag, _, posterior = self._run([words], "viterbi", [known])
        result = np.zeros((len(words), len(self.xpos)))
        result[np.repeat(np.arange(len(words)), np.diff(start)), tag] = posterior
        return result

    def _best(
        self, sentences: Sequence[Sentence], decoder: str, known: Known
    ) -> Iterator[tuple[Sentence, list[int], Columns, Floats]]:
        """Sentences, the numbers and the columns of their tags, and the posteriors of what is in `_values`."""
        start, tag, best, posterior = self._run(sentences, decoder, known)
        numbers, sure = tag[best].tolist(), shares_of_values(self._values, start, tag, best, posterior)
        begin = 0
        for sentence in sentences:
            end = begin + len(sentence)
            yield sentence, numbers[begin:end], self._columns(numbers[begin:end]), sure[begin:end]
            begin = end

    def _columns(self, numbers: list[int]) -> Columns:
        """XPOS, UPOS and FEATS of tags, None for what the tagger has not learned."""
        xpos, upos, feats = (
            tuple([names[number] for number in numbers]) if names else None for names in self._sides
        )
        return xpos, upos, feats

    @cached_property
    def _sides(self) -> list[tuple[str, ...]]:
        return [names if any(names) else () for names in (self.xpos, self.upos, self.feats)]

    @cached_property
    def _values(self) -> Ints:
        """[tags, 4] XPOS and UPOS together, XPOS, UPOS and FEATS as numbers."""
        sides = zip(*self.tagset.names, strict=True)
        columns = [np.unique(np.array(side), return_inverse=True)[1] for side in sides]
        return np.stack([self.tagset.group[:-1], *columns], 1).astype(np.int64)

    @cached_property
    def _steps(self) -> Steps:
        return Steps(self.pair, self.triple, self.tagset.group)

    @cached_property
    def _exponentials(self) -> Steps:
        return Steps(np.exp(self.pair), np.exp(self.triple), self.tagset.group)

    @cached_property
    def _slots(self) -> Ints32:
        slots: Ints32 = index_features(self.feature)
        return slots

    @property
    def reach(self) -> float:
        """How much less than the best one of its token a candidate may score."""
        return np.inf if self.margin is None else self.margin

    def _run(self, sentences: Sequence[Sentence], decoder: str, known: Known) -> tuple[Ints, Tags, Ints, Floats]:
        """Where the candidates of tokens begin, these, the places of the best and the posteriors of all."""
        check_decoder(decoder)
        first, start, tag, score = self._scored(sentences, known)
        best, posterior = tag_sentences(
            first, start, tag, score, self.reach, self._steps, self._exponentials, decoder == "posterior"
        )
        return start, tag, best, np.minimum(posterior, 1.0)

    def _scored(self, sentences: Sequence[Sentence], known: Known) -> tuple[Ints, Ints, Tags, Floats]:
        """Where sentences begin, where the candidates of their tokens begin, these, and their scores."""
        forms, token = SpellingTable.of(chain.from_iterable(sentence.words for sentence in sentences))
        first = np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])]).astype(np.int64)
        start, tag = self.candidates.of_tokens(forms, token, self.guesser, len(self.xpos))
        score = self._scores(forms, token, first, start, tag)
        if any(known):
            near = self._near_the_best(start, score)
            start, tag = self._within(sentences, known, first, start, tag, near)
            score = self._scores(forms, token, first, start, tag)
        return first, start, tag, score

    def _scores(self, forms: SpellingTable, token: Ints, first: Ints, start: Ints, tag: Tags) -> Floats:
        rows = Rows(self.row_start, self.row_tag, self.row_weight)
        found: Floats = score_tokens(
            first, forms.table, token, self.feature, self._slots, rows, self.tagset.parts, start, tag
        )
        return found

    def _near_the_best(self, start: Ints, score: Floats) -> Flags:
        """Which candidates stay."""
        best = np.maximum.reduceat(score, start[:-1])
        return np.asarray(score >= np.repeat(best - self.reach, np.diff(start)))

    def _within(
        self,
        sentences: Sequence[Sentence],
        known: Known,
        first: Ints,
        start: Ints,
        tag: Tags,
        near: Flags,
    ) -> tuple[Ints, Tags]:
        """The candidates that obey: a required tag is one even of a word that never had it.

        Those that stay without constraints come first, so that p of what obeys is p under the constraints.
        """
        parts = [tag[begin:end] for begin, end in pairwise(start)]
        fine, coarse = np.array(self.xpos, object), np.array(self.upos, object)
        for sentence, begin, each in zip(sentences, first, known, strict=False):
            if not each:
                continue
            each.fit(len(sentence))
            for word in range(len(sentence)):
                place = begin + word
                required = [name for number, name in each.tags if number == word]
                forbidden = [name for number, name in each.forbidden_tags if number == word]
                stays = near[start[place] : start[place + 1]]
                every = np.arange(len(fine), dtype=np.int16) if required else parts[place]
                for choice in (parts[place][stays], every):
                    obeys = np.ones(len(choice), np.bool_)
                    for name in required:
                        obeys &= (fine[choice] == name) | (coarse[choice] == name)
                    for name in forbidden:
                        obeys &= (fine[choice] != name) & (coarse[choice] != name)
                    if obeys.any():
                        break
                else:
                    raise NoParse(f"no possible tag of {sentence.words[word]!r} satisfies: {each}")
                parts[place] = choice[obeys]
        return np.concatenate([[0], np.cumsum([len(part) for part in parts])]), np.concatenate(parts)

    def __getstate__(self) -> dict[str, object]:
        """Travel to a worker without what can be made again."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


Columns = tuple[tuple[str, ...] | None, tuple[str, ...] | None, tuple[str, ...] | None]
"""XPOS, UPOS and FEATS of the words of a sentence."""
_NAMES = ("xpos", "upos", "feats")
