"""Figure 2 of Smith and Eisner (2012): EM on text against EM on an n-gram approximation of it.

Tags: Brown with 17 classes (see `data.tagsets`), the wsj sample with its own 17. The dictionary limits words seen
at least five times in the tagged part, in the wsj sample also three times and twice. Time is processor time of
learning alone: counting and building the automaton for n-gram EM, rounds for both; what is scored on the way is
not counted. Both are MAP: with the same pseudo-counts on Brown, each with those of emissions that are best on dev
on the wsj sample, where they matter. The model that is scored in the end is the one after the round that was best
on dev: on little text accuracy falls after a few rounds, however the likelihood rises.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.sentence import Sentence
from latentgram.data.tag_dictionary import TagDictionary
from latentgram.data.tagged import read_tagged
from latentgram.data.tagsets import smith_eisner
from latentgram.data.text import BOUNDARY, Text
from latentgram.errors import DataError
from latentgram.evaluate.tagging import score_tags
from latentgram.kinds.kind import Context
from latentgram.progress import Progress
from latentgram.sequences.hmm import HMM
from latentgram.sequences.hmm_learning import Corpus
from latentgram.sequences.hmm_parameters import (
    Emissions,
    Expected,
    Parameters,
    Prior,
    as_hmm,
    expanded,
    maximise,
    uniform,
)
from latentgram.sequences.ngram_learning import from_counts
from latentgram.sequences.variational import ROUNDS, ApproximateCorpus, first_memory
from latentgram.view.plots import line_plot

PRIOR = Prior(transition=1.0, emission=0.1)
PRIORS = tuple(Prior(1.0, emission) for emission in (0.01, 0.03, 0.1))
"""What is tried on little text."""
CHECKED = (1, 2, 3, 5, 10, 15, 20, 30, 40)
"""The rounds after which models are scored."""


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
        """Seconds of a round."""
        return (self.curve[-1]["seconds"] - self.prepared) / self.curve[-1]["round"]

    def to_json(self) -> dict[str, Any]:
        """All but the model."""
        return {
            "learner": self.name, "corpus": self.size, "tokens": self.tokens, "arcs": self.arcs,
            "emission_prior": self.prior.emission, "seconds_before_rounds": self.prepared,
            "seconds_a_round": self.round_seconds, "curve": self.curve, **self.scores,
        }  # fmt: skip


@dataclass(frozen=True)
class Tagged:
    """A tagged corpus in its three parts."""

    name: str
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
        return cls(name, *parts)


def _coarse(sentence: Sentence) -> Sentence:
    return replace(sentence, xpos=tuple(smith_eisner(tag) for tag in sentence.xpos or ()))


def reproduce(
    data: Path, more: Path | None, sizes: Sequence[int], iterations: int, test: bool, progress: Progress
) -> tuple[dict[str, Any], str, dict[str, str]]:
    """Run everything; the figures, a page about them, and plots by file name."""
    runs: list[Run] = []
    brown = Tagged.read(data / "tagged", "brown")
    source = (
        f"Brown, and behind it text from {more.name}" if more else "Brown, and behind it a sample of its trigrams"
    )
    for size, text in _corpora(brown, more, sizes):
        cutoff = 3 if text.size < 10_000_000 else 10
        runs += _compare(brown, text, f"{size}×", cutoff, iterations, test, progress, wide=size == min(sizes))
    wsj = Tagged.read(data / "tagged", "wsj-sample")
    words = Text.of(s.words for s in wsj.train)
    for seen in (5, 3, 2):
        name = f"wsj-sample, {seen}"
        runs += _compare(wsj, words, name, 2, iterations, test, progress, wide=seen == 5, seen=seen, priors=PRIORS)
    plots = {}
    for corpus in dict.fromkeys(run.size for run in runs):
        here = [run for run in runs if run.size == corpus]
        for what, label in (("accuracy", "accuracy on dev"), ("loglik", "log-likelihood a token")):
            series = {run.name: [(point["seconds"], point[what]) for point in run.curve] for run in here}
            name = f"{what}-{corpus.replace('×', 'x').replace(', ', '-')}.svg"
            plots[name] = line_plot(series, title=f"corpus {corpus}", x_label="processor seconds", y_label=label)
    results = {"text": source, "iterations": iterations, "runs": [run.to_json() for run in runs]}
    return results, _page(runs, source, iterations), plots


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


def _compare(
    corpus: Tagged,
    text: Text,
    size: str,
    cutoff: int,
    iterations: int,
    test: bool,
    progress: Progress,
    wide: bool,
    seen: int = 5,
    priors: Sequence[Prior] = (PRIOR,),
) -> list[Run]:
    """EM and n-gram EM on one text; `wide` adds the slower families and the reduction to classes."""
    dictionary = TagDictionary.of(corpus.train, seen)
    judge = (Corpus.of(text, Emissions.of(text.words, dictionary), 2, segments=True), corpus, progress)

    def best(learn: Callable[[Prior], Run]) -> Run:
        return max(map(learn, priors), key=lambda run: run.scores["dev_accuracy"])

    runs = [
        best(partial(_em, text, dictionary, size, iterations, segments, judge=judge))
        for segments in ((False, True) if wide else (False,))
    ]
    kinds = [("n-gram EM", 1, False)]
    kinds += [("n-gram EM, classes", 1, True), ("n-gram EM, n_q = 2", 2, False)] if wide else []
    for name, window, classes in kinds:
        learn = partial(_ngram_em, name, text, dictionary, size, cutoff, window, classes, iterations, judge=judge)
        runs.append(best(learn))
    for run in runs:
        if test and run.model is not None:
            run.scores["test_accuracy"] = _accuracy(run.model, corpus.test)
    return runs


Judge = tuple[Corpus, Tagged, Progress]


def _em(
    text: Text,
    dictionary: TagDictionary,
    size: str,
    iterations: int,
    segments: bool,
    prior: Prior,
    judge: Judge,
) -> Run:
    run = Run("EM, segments" if segments else "EM", size, text.size, prior)
    _warm(dictionary)
    begin = time.process_time()
    shape = Emissions.of(text.words, dictionary)
    corpus = Corpus.of(text, shape, 2, segments)
    first, _ = corpus.expect(uniform(shape, 2), Context())
    parameters = maximise(first, shape, prior)
    run.prepared = spent = time.process_time() - begin
    for number in range(1, iterations + 1):
        begin = time.process_time()
        counts, _ = corpus.expect(parameters, Context())
        parameters = maximise(counts, shape, prior)
        spent += time.process_time() - begin
        _check(run, number, spent, parameters, shape, text, judge, number == iterations)
    return run


def _ngram_em(
    name: str,
    text: Text,
    dictionary: TagDictionary,
    size: str,
    cutoff: int,
    window: int,
    classes: bool,
    iterations: int,
    prior: Prior,
    judge: Judge,
) -> Run:
    run = Run(name, size, text.size, prior)
    _warm(dictionary)
    begin = time.process_time()
    counts = NGramCounts.of(text, order=3, cutoff=cutoff, dictionary=dictionary if classes else None)
    model = from_counts(counts)
    allowed = dictionary if counts.classes is None else counts.classes.dictionary(dictionary)
    corpus = ApproximateCorpus.of(model, allowed)
    first, memory = first_memory(corpus, window)
    parameters = maximise(_whole(first, model.sentences), corpus.shape, prior)
    run.prepared, run.arcs = time.process_time() - begin, model.arcs
    spent = run.prepared
    for number in range(1, iterations + 1):
        begin = time.process_time()
        found, memory, _ = ROUNDS[window](corpus, parameters, memory)
        parameters = maximise(_whole(found, model.sentences), corpus.shape, prior)
        spent += time.process_time() - begin
        plain, shape = parameters, corpus.shape
        if counts.classes is not None:
            plain, shape = expanded(parameters, shape, counts.classes, dictionary)
        _check(run, number, spent, plain, shape, text, judge, number == iterations)
    return run


def _whole(expected: Expected, sentences: float) -> Expected:
    return Expected(expected.transition * sentences, expected.emission * sentences)


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


def _check(
    run: Run,
    number: int,
    seconds: float,
    parameters: Parameters,
    shape: Emissions,
    text: Text,
    judge: Judge,
    last: bool,
) -> None:
    """Score a model on the way."""
    if number not in CHECKED and not last:
        return
    exact, corpus, progress = judge
    _, loglik = exact.expect(parameters, Context())
    count = np.bincount(text.tokens, minlength=len(text.words))
    model = as_hmm(parameters, shape, count)
    point = {
        "round": float(number),
        "seconds": seconds,
        "loglik": loglik / (text.size + len(text)),
        "accuracy": _accuracy(model, corpus.dev),
    }
    run.curve.append(point)
    likelihood, accuracy = point["loglik"], point["accuracy"]
    progress.step(f"{run.size} {run.name}", number, seconds=seconds, loglik=likelihood, accuracy=accuracy)
    if run.model is None or point["accuracy"] > run.scores["dev_accuracy"]:
        run.model = model
        run.scores = {"best_round": float(number), "dev_accuracy": point["accuracy"]}
    if last:
        run.scores["loglik"] = point["loglik"]
        run.scores["train_accuracy"] = _accuracy(run.model, corpus.train)


def _accuracy(model: HMM, sentences: Sequence[Sentence]) -> float:
    output = [result.tags for result in model.tag_all([sentence.words for sentence in sentences])]
    return score_tags([sentence.tags or () for sentence in sentences], output).accuracy


def _page(runs: Sequence[Run], source: str, iterations: int) -> str:
    """The table."""
    tested = any("test_accuracy" in run.scores for run in runs)
    head = ["corpus", "tokens", "learner", "arcs", "s before", "s a round", "log-lik a token", "prior", "round"]
    head += ["train", "dev"]
    head += ["test"] if tested else []
    lines = [
        "# Unsupervised learning on an approximate corpus (Smith and Eisner 2012)",
        "",
        f"Text: {source}. {iterations} rounds; processor seconds of one core; tagging accuracy in percent. "
        "train, dev and test are the tagged parts, tagged by the model after the round that was best on dev; the "
        "log-likelihood is that of the training text after the last; 'prior' is the pseudo-count of emissions. "
        "The number behind the wsj sample says how often a word must be seen for the dictionary to know it.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "|".join(["---", "--:", "---", *["--:"] * (len(head) - 3)]) + "|",
    ]
    for run in runs:
        cells = [
            run.size, f"{run.tokens:,}", run.name, f"{run.arcs:,}" if run.arcs else "", f"{run.prepared:.2f}",
            f"{run.round_seconds:.3f}", f"{run.scores['loglik']:.4f}", f"{run.prior.emission:g}",
            f"{run.scores['best_round']:.0f}",
            f"{run.scores['train_accuracy']:.2f}", f"{run.scores['dev_accuracy']:.2f}",
        ]  # fmt: skip
        cells += [f"{run.scores.get('test_accuracy', float('nan')):.2f}"] if tested else []
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
