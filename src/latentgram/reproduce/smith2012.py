"""Figure 2 of Smith and Eisner (2012): EM on text against EM on an n-gram approximation of it.

Tags: Brown with Smith and Eisner's 17 classes (2005), the wsj sample with its own 17. The dictionary limits words
seen at least five times in the tagged part, in the wsj sample also three times and twice. Time is processor time
of learning alone: counting and building the automaton for n-gram EM, rounds for both; what is scored on the way is
not counted. Both are MAP: with the same pseudo-counts on Brown, each with those of emissions that are best on dev
on the wsj sample, where they matter. The model that is scored in the end is the one after the round that was best
on dev: on little text accuracy falls after a few rounds, however the likelihood rises.

The Penn Treebank's 45 tags collapse to the 17 classes by a table; those of Brown go the same way, each to the
class of the Penn tag that its words would have. Suffixes for titles, headlines and cited words, the prefix for
foreign words and the mark of negation are cut; a contraction (`PPS+BEZ`) has the class of its first part;
possessives keep theirs, so the class POS stays empty.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path

import numpy as np

from latentgram.arrays import Ints
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.sentence import Sentence
from latentgram.data.tag_dictionary import TagDictionary
from latentgram.data.tagged import read_tagged
from latentgram.data.text import BOUNDARY, Text
from latentgram.errors import DataError
from latentgram.evaluate.tagging import score_tags
from latentgram.kinds.kind import Context
from latentgram.kinds.learners import Smoothing
from latentgram.parallel import Engine, engine_for, shards
from latentgram.progress import Progress, Silent
from latentgram.reproduce.experiment import Results, table
from latentgram.sequences.approximate_corpus import ApproximateCorpus
from latentgram.sequences.counting import count_backoff, from_counts
from latentgram.sequences.em import Corpus
from latentgram.sequences.empty_history import without_empty_history
from latentgram.sequences.hmm import HMM
from latentgram.sequences.parameters import Emissions, Parameters, Prior, as_hmm, maximise, uniform
from latentgram.sequences.settings import CountingNGram
from latentgram.sequences.variational import ROUNDS, Round, expanded, first_memory, round_of
from latentgram.view.plots import line_plot

PRIOR = Prior(transition=1.0, emission=0.1)
PRIORS = tuple(Prior(1.0, emission) for emission in (0.01, 0.03, 0.1))
"""What is tried on little text."""
CHECKED = (1, 2, 3, 5, 10, 15, 20, 30, 40)
"""The rounds after which models are scored."""
CLASSES = {
    "ADJ": "JJ JJR JJS JJT CD OD AP PP$",
    "ADV": "RB RBR RBT RN QL QLP *",
    "CONJ": "CC",
    "DET": "AT DT DTI DTS DTX ABL ABN ABX",
    "ENDPUNC": ".",
    "INPUNC": ", : -- UH",
    "LPUNC": "( ``",
    "N": "NN NNS NP NPS NR NRS PN PP PPL PPLS PPO PPS PPSS PP$$ EX NIL",
    "PREP": "IN CS",
    "PRT": "RP",
    "RPUNC": ") '' '",
    "TO": "TO",
    "V": "VB VBD VBZ MD BE BED BEDZ BEM BER BEZ DO DOD DOZ HV HVD HVZ",
    "VBG": "VBG BEG DOG HVG",
    "VBN": "VBN BEN DON HVN",
    "WH": "WDT WPO WPS WP$ WQL WRB",
}
"""The Brown tags of each class."""
_CLASS_OF = {tag: name for name, tags in CLASSES.items() for tag in tags.split()}
_AFFIXES = re.compile(r"^FW-|-(TL|HL|NC|T|N)\b")


def smith_eisner(brown: str) -> str:
    """The class of a Brown tag; what the table lacks is a noun.

    >>> [smith_eisner(tag) for tag in ("NN$-TL", "BEZ*", "PPS+BEZ", "FW-IN", "*", "WP$", "--")]
    ['N', 'V', 'N', 'PREP', 'ADV', 'WH', 'INPUNC']
    """
    tag = _AFFIXES.sub("", brown).split("+")[0]
    forms = (tag, tag.rstrip("*"), tag.rstrip("*").rstrip("$"))
    return next((_CLASS_OF[form] for form in forms if form in _CLASS_OF), "N")


@dataclass
class Run:
    """One learner on one corpus."""

    name: str
    size: str
    tokens: int
    prior: Prior
    arcs: int = 0
    prepared: float = 0.0
    """Seconds before the first round."""
    curve: list[dict[str, float]] = field(default_factory=list)
    model: HMM | None = None
    scores: dict[str, float] = field(default_factory=dict)

    @property
    def round_seconds(self) -> float:
        """Seconds per round."""
        return (self.curve[-1]["seconds"] - self.prepared) / self.curve[-1]["round"]

    def to_json(self) -> dict[str, object]:
        """All but the model."""
        return {
            "learner": self.name, "corpus": self.size, "tokens": self.tokens, "arcs": self.arcs,
            "emission_prior": self.prior.emission, "seconds_before_rounds": self.prepared,
            "seconds_a_round": self.round_seconds, "curve": self.curve, **self.scores,
        }  # fmt: skip


@dataclass(frozen=True)
class Tagged:
    """A tagged corpus in its three parts."""

    train: list[Sentence]
    dev: list[Sentence]
    test: list[Sentence]

    @classmethod
    def read(cls, folder: Path, name: str) -> Tagged:
        """Brown's own tags become the 17 classes; the wsj sample has them in its second column of tags."""
        brown = name == "brown"
        parts = []
        for part in ("train", "dev", "test"):
            sentences = read_tagged(folder / name / f"{part}.tsv", column=1 if brown else 2)
            parts.append([_coarse(sentence) if brown else sentence for sentence in sentences])
        return cls(*parts)


def _coarse(sentence: Sentence) -> Sentence:
    return replace(sentence, xpos=tuple(smith_eisner(tag) for tag in sentence.xpos or ()))


def reproduce(
    data: Path,
    more: Path | None,
    sizes: Sequence[int],
    iterations: int,
    test: bool,
    progress: Progress,
    *,
    n_jobs: int = 1,
) -> Results:
    """Run everything; workers share the learners, whose times are processor time of their own process."""
    engine = engine_for(n_jobs)
    inner = progress if n_jobs == 1 else Silent()
    runs: list[Run] = []
    brown = Tagged.read(data / "tagged", "brown")
    source = (
        f"Brown, and behind it text from {more.name}" if more else "Brown, and behind it a sample of its trigrams"
    )
    for size, text in _corpora(brown, more, sizes):
        cutoff = 3 if text.size < 10_000_000 else 10
        comparison = Comparison(brown, text, f"{size}×", cutoff, iterations, inner)
        runs += comparison.runs(engine, progress, wide=size == 1, test=test)
    wsj = Tagged.read(data / "tagged", "wsj-sample")
    words = Text.of(s.words for s in wsj.train)
    for seen in (5, 3, 2) if 1 in sizes else ():
        comparison = Comparison(wsj, words, f"wsj-sample, {seen}", 2, iterations, inner, seen, PRIORS)
        runs += comparison.runs(engine, progress, wide=seen == 5, test=test)
    plots = {}
    for corpus in dict.fromkeys(run.size for run in runs):
        here = [run for run in runs if run.size == corpus]
        for what, label in (
            ("accuracy", "accuracy on dev"),
            ("loglik", "log-likelihood per token"),
            ("heldout", "log-likelihood per token of dev"),
        ):
            series = {run.name: [(point["seconds"], point[what]) for point in run.curve] for run in here}
            name = f"{what}-{corpus.replace('×', 'x').replace(', ', '-')}.svg"
            plots[name] = line_plot(series, title=f"corpus {corpus}", x_label="processor seconds", y_label=label)
    figures = {"text": source, "iterations": iterations, "runs": [run.to_json() for run in runs]}
    return Results(figures, _page(runs, source, iterations), plots)


def _corpora(brown: Tagged, more: Path | None, sizes: Sequence[int]) -> Iterator[tuple[int, Text]]:
    """Brown's training part, lengthened to each size."""
    base = Text.of(sentence.words for sentence in brown.train)
    if max(sizes) == 1:
        yield 1, base
        return
    if more is not None:
        extra = Text.read(more)
    else:
        model = from_counts(NGramCounts.of(base, order=3), "failure")
        drawn = model.sample_tokens(int(max(sizes) * len(base) * 1.2), seed=1)
        extra = Text(model.words, np.concatenate([[BOUNDARY], drawn]).astype(np.int32))
    there, needed = base.size + extra.size, max(sizes) * base.size
    if there < needed:
        raise DataError(
            f"{max(sizes)} times Brown needs {needed:,} tokens, but Brown ({base.size:,}) and this text have "
            f"{there:,} together",
            path=more,
        )
    for size in sizes:
        yield size, base if size == 1 else (base + extra).upto(size * base.size)


@dataclass(frozen=True)
class Comparison:
    """EM and n-gram EM on one text, whose words the tagged corpus limits."""

    corpus: Tagged
    text: Text
    size: str
    cutoff: int
    iterations: int
    progress: Progress
    seen: int = 5
    """How often the dictionary must have seen a word."""
    priors: Sequence[Prior] = (PRIOR,)

    @cached_property
    def dictionary(self) -> TagDictionary:
        """The tags that words may have."""
        return TagDictionary.of(self.corpus.train, self.seen)

    @cached_property
    def exact(self) -> Corpus:
        """The text, for likelihoods."""
        return Corpus.of(self.text, Emissions.of(self.text.words, self.dictionary), 2, segments=True)

    def runs(self, engine: Engine, progress: Progress, *, wide: bool, test: bool) -> list[Run]:
        """All learners; `wide` adds the slower families and the reduction to classes."""
        learners = [partial(self.em, segments=segments) for segments in ((False, True) if wide else (False,))]
        learners.append(partial(self.ngram_em, "n-gram EM"))
        learners.append(
            partial(self.ngram_em, "n-gram EM, n_q = 2, classes", step=round_of(2), window=2, classes=True)
        )
        learners.append(partial(self.ngram_em, "n-gram EM, 5-grams", order=5))
        if wide:
            learners.append(partial(self.ngram_em, "n-gram EM, classes", classes=True))
            learners.append(partial(self.ngram_em, "n-gram EM, n_q = 2", step=round_of(2), window=2))
            in_turn = round_of(2, sequential=True)
            learners.append(partial(self.ngram_em, "n-gram EM, n_q = 2, sequential", step=in_turn, window=2))
            learners.append(partial(self.ngram_em, "n-gram EM, 5-grams, lag 2", order=5, lag=2))
            learners.append(partial(self.em, order=3))
            learners.append(partial(self.ngram_em, "n-gram EM, n_p = 3", step=round_of(1, order=3), memory=3))
            learners.append(partial(self.ngram_em, "n-gram EM, hard", step=round_of(1, hard=True)))
            for smoothing in ("kneser-ney", "witten-bell"):
                learners.append(partial(self.ngram_em, f"n-gram EM, {smoothing}", smoothing=smoothing))
                name = f"n-gram EM, {smoothing}, no empty history"
                learners.append(partial(self.ngram_em, name, smoothing=smoothing, empty_history=False))
        tried: list[Run] = []
        pairs = list(product(learners, self.priors))
        for run in engine.map(lambda pair: pair[0](pair[1]), pairs):
            tried.append(run)
            progress.step(f"{self.size}: learners and priors", len(tried), len(pairs))
        each = shards(tried, len(self.priors))
        runs = [max(few, key=lambda run: run.scores["dev_accuracy"]) for few in each]
        for run in runs:
            if test and run.model is not None:
                run.scores["test_accuracy"] = _accuracy(run.model, self.corpus.test)
        return runs

    def em(self, prior: Prior, *, segments: bool = False, order: int = 2) -> Run:
        """EM on the text."""
        name = "EM, segments" if segments else "EM" if order == 2 else f"EM, n_p = {order}"
        run = Run(name, self.size, self.text.size, prior)
        _warm(self.dictionary)
        begin = time.process_time()
        shape = Emissions.of(self.text.words, self.dictionary)
        corpus = Corpus.of(self.text, shape, order, segments)
        parameters = maximise(corpus.expect(uniform(shape, order), Context()), shape, prior)
        run.prepared = spent = time.process_time() - begin
        for number in range(1, self.iterations + 1):
            begin = time.process_time()
            parameters = maximise(corpus.expect(parameters, Context()), shape, prior)
            spent += time.process_time() - begin
            self._check(run, number, spent, parameters, shape)
        return run

    def ngram_em(
        self,
        name: str,
        prior: Prior,
        *,
        step: Round = ROUNDS[1],
        window: int = 1,
        memory: int = 2,
        classes: bool = False,
        order: int = 3,
        smoothing: Smoothing = "none",
        lag: int | None = None,
        empty_history: bool = True,
    ) -> Run:
        """EM on an n-gram model of the text, or of its words and classes; smoothed or as it was counted.

        `window` is n_q, `memory` n_p, `order` that of the n-grams, `lag` how many words a tag waits for.
        """
        run = Run(name, self.size, self.text.size, prior)
        dictionary = self.dictionary
        _warm(dictionary)
        begin = time.process_time()
        reduced = dictionary if classes else None
        smooth = smoothing != "none"
        # Rare n-grams say how much a smoothed model keeps for new ones: they are cut off after the estimation.
        counted = 1 if smooth else self.cutoff
        counts = NGramCounts.of(self.text, order=order, cutoff=counted, dictionary=reduced)
        settings = CountingNGram(smoothing=smoothing, cutoff=self.cutoff if smooth else 1)
        model = count_backoff(counts, settings, Context())
        model = model if empty_history else without_empty_history(model)
        allowed = dictionary if counts.classes is None else counts.classes.dictionary(dictionary)
        corpus = ApproximateCorpus.of(model, allowed, lag)
        first, past = first_memory(corpus, window, memory)
        parameters = maximise(first.times(model.sentences), corpus.shape, prior)
        run.prepared, run.arcs = time.process_time() - begin, model.arcs
        spent = run.prepared
        for number in range(1, self.iterations + 1):
            begin = time.process_time()
            expected, past = step(corpus, parameters, past)
            parameters = maximise(expected.times(model.sentences), corpus.shape, prior)
            spent += time.process_time() - begin
            plain, shape = parameters, corpus.shape
            if counts.classes is not None:
                plain, shape = expanded(parameters, shape, counts.classes, dictionary)
            self._check(run, number, spent, plain, shape)
        return run

    def _check(self, run: Run, number: int, seconds: float, parameters: Parameters, shape: Emissions) -> None:
        """Score a model on the way."""
        last = number == self.iterations
        if number not in CHECKED and not last:
            return
        text = self.text
        loglik = self._likelihood(parameters, shape) / (text.size + len(text))
        count = _counted(text, shape)
        model = as_hmm(parameters, shape, count)
        accuracy = _accuracy(model, self.corpus.dev)
        whole = as_hmm(parameters, shape, count, unknown_words="class")
        heldout = whole.loglik(self.heldout) / (self.heldout.size + len(self.heldout))
        figures = {"seconds": seconds, "loglik": loglik, "heldout": heldout, "accuracy": accuracy}
        run.curve.append({"round": float(number), **figures})
        self.progress.step(f"{run.size} {run.name}", number, None, **figures)
        if run.model is None or accuracy > run.scores["dev_accuracy"]:
            run.model = model
            run.scores = {"best_round": float(number), "dev_accuracy": accuracy}
        if last:
            run.scores["loglik"], run.scores["heldout"] = loglik, heldout
            run.scores["train_accuracy"] = _accuracy(run.model, self.corpus.train)

    def _likelihood(self, parameters: Parameters, shape: Emissions) -> float:
        """log p of the text; a smoothed model has the word `<unk>` besides its words, and order 3 no segments."""
        if shape.words != self.text.words or len(parameters.transition) != len(shape.tags):
            return as_hmm(parameters, shape, _counted(self.text, shape)).loglik(self.text)
        return self.exact.expect(parameters, Context()).bound

    @cached_property
    def heldout(self) -> Text:
        """The dev part, for likelihoods of text that is not learned from."""
        return Text.of(sentence.words for sentence in self.corpus.dev)


def _counted(text: Text, shape: Emissions) -> Ints:
    """How often each word of the shape occurs in the text."""
    return np.bincount(text.encoded_by(shape.words), minlength=len(shape.words))


def _warm(dictionary: TagDictionary) -> None:
    """Compile the kernels before the clock runs."""
    text = Text.of(["a b", "b a c"])
    shape = Emissions.of(text.words, dictionary)
    for segments in (False, True):
        Corpus.of(text, shape, 2, segments).expect(uniform(shape, 2), Context())
    for window in (1, 2):
        corpus = ApproximateCorpus.of(from_counts(NGramCounts.of(text)), dictionary)
        _, memory = first_memory(corpus, window)
        ROUNDS[window](corpus, uniform(shape, 2), memory)


def _accuracy(model: HMM, sentences: Sequence[Sentence]) -> float:
    output = [result.tags for result in model.tag_all([sentence.words for sentence in sentences])]
    return score_tags([sentence.tags or () for sentence in sentences], output).accuracy


def _page(runs: Sequence[Run], source: str, iterations: int) -> str:
    """The table."""
    tested = any("test_accuracy" in run.scores for run in runs)
    head = [
        "corpus",
        "tokens",
        "learner",
        "arcs",
        "s before",
        "s per round",
        "log-lik per token",
        "held-out",
        "prior",
    ]
    head += ["round"]
    head += ["train", "dev"]
    head += ["test"] if tested else []
    rows = []
    for run in runs:
        cells = [
            run.size, f"{run.tokens:,}", run.name, f"{run.arcs:,}" if run.arcs else "", f"{run.prepared:.2f}",
            f"{run.round_seconds:.3f}", f"{run.scores['loglik']:.4f}", f"{run.scores['heldout']:.4f}",
            f"{run.prior.emission:g}", f"{run.scores['best_round']:.0f}",
            f"{run.scores['train_accuracy']:.2f}", f"{run.scores['dev_accuracy']:.2f}",
        ]  # fmt: skip
        cells += [f"{run.scores.get('test_accuracy', float('nan')):.2f}"] if tested else []
        rows.append(cells)
    lines = [
        "# Unsupervised learning on an approximate corpus (Smith and Eisner 2012)",
        "",
        f"Text: {source}. {iterations} rounds; processor seconds of one core; tagging accuracy in percent. "
        "train, dev and test are the tagged parts, tagged by the model after the round that was best on dev; the "
        "log-likelihood is that of the training text after the last, 'held-out' that of dev, whose unknown words "
        "are a class learned from the rarest ones; 'prior' is the pseudo-count of emissions. "
        "The number behind the wsj sample says how often a word must be seen for the dictionary to know it.",
        "",
        *table(head, rows, left=(0, 2)),
    ]
    return "\n".join(lines)
