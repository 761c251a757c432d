"""Tables 1–3 and the ablations of §4.3 of Cohen, Stratos, Collins, Foster and Ungar (2013) on any treebank.

Labelled F1 as EVALB counts it with COLLINS.prm, gold tags, Goodman's decoder. EM stands twice: as in the paper,
and with the back-off smoothing of §3.2 applied to its expected counts.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from latentgram.data.tree import Tree
from latentgram.kinds.kind import Context
from latentgram.kinds.learners import EM, Clustering, Combining, Counting, Spectral
from latentgram.kinds.word_space import ClusterSpace
from latentgram.learn.fit import fit
from latentgram.lpcfg.decoders import Goodman
from latentgram.lpcfg.kernels.inside_outside import Tensors
from latentgram.lpcfg.kernels.low_rank import Factors
from latentgram.lpcfg.low_rank import low_rank
from latentgram.lpcfg.model import LPCFG, Ensemble
from latentgram.lpcfg.parse.cascade import Cascade, chart_posteriors
from latentgram.lpcfg.parse.pruning import Pruning
from latentgram.lpcfg.settings import SpectralLPCFG
from latentgram.lpcfg.spectral import lexicon_of, mean_views, rule_tensors
from latentgram.lpcfg.statistics import GrammarData
from latentgram.lpcfg.views import ViewSettings, cross_moment, decompose, feature_views, features_of, project
from latentgram.progress import Progress
from latentgram.reproduce.experiment import Experiment, Results, Row, best, curves, read_phrases, table, timed
from latentgram.view.plots import line_plot

STAGES = ("reading", "features", "scaling", "SVD", "a → b c", "a → x")
"""Of spectral learning: the paper's five, after reading and binarising the trees. Its "transfer" from one program
to another falls away."""
NOISE, MEMBERS = 0.2, 5
"""Share of features dropped, or deviation of the Gaussian they are multiplied by; and grammars of ensembles."""
NOISES: dict[Literal["dropout", "gaussian"], str] = {"dropout": "dropped features", "gaussian": "Gaussian noise"}
RANKS = (4, 8, 16)
"""Products that the rules of a grammar with many states become sums of."""
UNSCALED = 1e12
"""A κ beside which counts do not matter: all features have one weight."""
PAPER = {
    ("PCFG", 1): 68.62,
    **{("EM", m): f1 for m, f1 in ((8, 86.87), (16, 88.32), (24, 88.35), (32, 88.56))},
    **{("spectral", m): f1 for m, f1 in ((8, 85.60), (16, 87.77), (24, 88.53), (32, 88.82))},
}
"""Table 2 as printed: section 22 of the Penn Treebank, tags by a tagger."""
SIBLINGS = 0
"""As in the paper, intermediate nodes of binary trees remember no siblings."""
EM_KINDS = {"EM": 0.0, "EM + back-off": None}
"""Back-off of each kind of EM; None is the default."""


class Cohen2013(Experiment[LPCFG, Tree]):
    """The experiments on one treebank."""

    PAPER, SUFFIX, FIGURE = "cohen2013", "mrg", "f1"
    DECODER, GOLD_TAGS = Goodman(), True  # as in the paper

    def __init__(self, folder: Path, progress: Progress | None = None, n_jobs: int = 1) -> None:
        super().__init__(folder, read_phrases, progress, n_jobs)
        learners = (Spectral(states=2, horizontal=SIBLINGS), EM(states=2, iterations=1, horizontal=SIBLINGS))
        for learner in learners:  # the first call of a kernel compiles it
            self.accuracy(fit(LPCFG, self.train[:50], by=learner), self.dev[:5])

    def table_1(self, states: Sequence[int], rounds: int, every: int) -> list[Row]:
        """EM after every so many rounds."""
        rows = []
        for name, backoff in EM_KINDS.items():
            grammars: dict[Row, LPCFG] = {}
            for m in states:
                learner = EM(states=m, iterations=rounds, backoff=backoff, horizontal=SIBLINGS)
                first, third = (
                    timed(partial(fit, LPCFG, self.train, by=replace(learner, iterations=n)))[1] for n in (1, 3)
                )
                each = max(third - first, 0.0) / 2
                watched = _Watch(self, every)
                fit(LPCFG, self.train, by=learner, dev_score=watched)
                for done, (grammar, f1) in watched.seen.items():
                    row = Row(name, m, done, f1, first + (done - 1) * each)
                    grammars[row] = grammar
                    rows.append(row)
                chosen = best(grammars)
                grammars = {chosen: grammars[chosen]}
            self.models |= grammars
        return rows

    def table_3(self, states: int) -> dict[str, float]:
        """Seconds of each stage of spectral learning."""
        learner, context = SpectralLPCFG(states=states, horizontal=SIBLINGS), Context()
        settings, here = ViewSettings.of(learner), context.engine
        data, reading = timed(lambda: GrammarData.of(self.train, learner, here))
        (inside, outside), features = timed(lambda: feature_views(data, settings, here))
        symbols = range(data.derivations.symbols)
        crosses, scaling = timed(
            lambda: [cross_moment(features_of(symbol, data, settings, inside, outside)) for symbol in symbols]
        )
        _, decomposing = timed(lambda: [decompose(cross, states) for cross in crosses])
        views = project(data, settings, context)
        _, rules = timed(lambda: rule_tensors(data, views, mean_views(data, views, here), learner.backoff, here))
        leaf = data.derivations.leaf
        _, words = timed(lambda: lexicon_of(data, learner).vectors(views.outside, leaf, here))
        return dict(zip(STAGES, (reading, features, scaling, decomposing, rules, words), strict=True))

    def ablations(self, states: Sequence[int]) -> list[Row]:
        """§4.3: without smoothing, without scaling, with simple features, and a Markovised PCFG; and what the
        paper has where we do otherwise."""
        rows = [self.row("Markovised PCFG", LPCFG, Counting(horizontal=1, vertical=2), 1, keep=False)]
        for name, changes in (
            ("without smoothing", {"backoff": 0.0, "pull": 0.0}),
            ("without scaling", {"scaling": UNSCALED}),
            ("simple features", {"features": "simple"}),
            ("words smoothed as printed", {"lexicon": "printed"}),
            ("heads by the table of Collins", {"heads": "collins"}),
            ("heads by the English table", {"heads": "english"}),
        ):
            for m in states:
                learner = replace(Spectral(states=m, horizontal=SIBLINGS), **changes)
                rows.append(self.row(name, LPCFG, learner, m, keep=False))
        return rows

    def decoders(self, spectral: Sequence[Row]) -> list[Row]:
        """§3.3: marginals with the signs that they come with, in place of their sizes; footnote 3: marginals of
        rules; §4: pruning in two stages."""
        choices: dict[str, tuple[Goodman, Pruning | None]] = {
            "signed posteriors": (Goodman(signed=True), None),
            "posteriors of rules": (Goodman(over="rules"), None),
            "pruned in two stages": (Goodman(), Pruning.two_stage()),
        }
        return [
            Row(name, row.states, 0, self.score(self.models[row], decoder, pruning), row.seconds)
            for name, (decoder, pruning) in choices.items()
            for row in spectral
        ]

    def beyond(self, states: int, many: int) -> list[Beyond]:
        """Five grammars with noise in their features, of `states` states; and one of `many`, its rules whole and
        as sums of products."""
        by, several, rows = Spectral(states=states, horizontal=SIBLINGS), f"{MEMBERS} × ", []
        combining = Combining(states=states, members=MEMBERS, horizontal=SIBLINGS)
        together = {"clusters, different features": combining}
        for kind, name in NOISES.items():
            noisy = [replace(by, seed=seed, noise=NOISE, noise_kind=kind) for seed in range(MEMBERS)]
            grammars, seconds = timed(partial(self._all, noisy))
            rows += [
                Beyond(f"spectral, {name}", states, self.score(grammars[0]), seconds / MEMBERS),
                Beyond(f"{several}spectral, {name}", states, self.score(Ensemble(grammars)), seconds),
            ]
            together[f"clusters, {name}"] = replace(combining, noise=NOISE, noise_kind=kind)
        for name, learner in together.items():
            ensemble, seconds = timed(partial(fit, Ensemble, self.train, by=learner))
            rows.append(Beyond(several + name, states, self.score(ensemble), seconds))
        whole, seconds = timed(lambda: fit(LPCFG, self.train, by=replace(by, states=many)))
        rows.append(Beyond("spectral, whole tensors", many, self.score(whole), seconds, self.last_stage(whole)))
        for rank in RANKS:
            grammar, more = timed(partial(low_rank, whole, rank))
            f1, stage = self.score(grammar), self.last_stage(grammar)
            rows.append(Beyond(f"spectral, rules of rank {rank}", many, f1, seconds + more, stage))
        return rows

    def with_words(self, states: int, vectors: ClusterSpace) -> list[Beyond]:
        """Clusters of words from raw text, as bit strings among the features of nodes, beside the same learners
        without them (the vectors are those of Dhillon et al. 2012, §4.2)."""
        learners = {
            "spectral": Spectral(states=states, horizontal=SIBLINGS),
            "clusters": Clustering(states=states, horizontal=SIBLINGS),
        }
        rows = []
        for name, learner in learners.items():
            for ending, space in (("", None), (", words in clusters", vectors)):
                by = partial(fit, LPCFG, self.train, by=replace(learner, vectors=space))
                grammar, seconds = timed(by)
                rows.append(Beyond(f"{name}{ending}", states, self.score(grammar), seconds))
        return rows

    def _all(self, learners: Sequence[Spectral]) -> tuple[LPCFG, ...]:
        return tuple(fit(LPCFG, self.train, by=learner) for learner in learners)

    def last_stage(self, grammar: LPCFG) -> float:
        """Milliseconds per sentence of the last stage of parsing, where the grammar itself looks at the chart."""
        cascade = Cascade((grammar,), Pruning())
        factors = Factors.of(grammar, "float32") if grammar.rule_rank.size else None
        posteriors = (cascade.posterior(cascade.leaves.of(sentence)) for sentence in self.dev.sentences())
        charts = [posterior for posterior in posteriors if posterior is not None]
        tensors = Tensors.of(grammar, "float32", cascade.projection.index.unseen)

        def work() -> None:
            for posterior in charts:
                chart_posteriors(posterior.chart, tensors, factors, posterior.leaves)

        work()  # the first call compiles
        return 1000 * timed(work)[1] / len(charts)

    def negative(self, row: Row) -> int:
        """Sentences of the development part to which a grammar gives a negative probability."""
        cascade = Cascade((self.models[row],), Pruning())
        posteriors = (cascade.posterior(cascade.leaves.of(sentence)) for sentence in self.dev.sentences())
        return sum(posterior.negative for posterior in posteriors if posterior is not None)


@dataclass(frozen=True)
class Beyond:
    """What goes beyond the paper: name, states, score, seconds of learning, milliseconds of the last stage."""

    name: str
    states: int
    dev: float
    seconds: float
    stage: float | None = None


class _Watch:
    """Rates the grammar of every so many rounds of EM and keeps it."""

    def __init__(self, work: Cohen2013, every: int) -> None:
        self.work, self.every, self.calls = work, every, -1
        self.seen: dict[int, tuple[LPCFG, float]] = {}

    def __call__(self, grammar: LPCFG) -> float:
        self.calls += 1
        if self.calls == 0 or self.calls % self.every:
            return 0.0
        f1 = self.work.score(grammar)
        self.seen[self.calls] = grammar, f1
        return f1


def reproduce(
    folder: Path,
    states: Sequence[int] = (8, 16, 24, 32),
    rounds: int = 50,
    every: int = 10,
    test: bool = False,
    progress: Progress | None = None,
    many: int = 32,
    *,
    vectors: ClusterSpace | None = None,
    n_jobs: int = 1,
) -> Results:
    """Run everything; `many` are the states of the grammar whose rules become sums of products. With `vectors`
    there are rows for grammars that know clusters of words."""
    work = Cohen2013(folder, progress, n_jobs)
    pcfg = work.row("PCFG", LPCFG, Counting(), 1)
    em = work.table_1(states, rounds, min(every, rounds))
    spectral = [work.row("spectral", LPCFG, Spectral(states=m, horizontal=SIBLINGS), m) for m in states]
    stages = {m: work.table_3(m) for m in states}
    other = [*work.ablations(states), *work.decoders(spectral)]
    beyond = work.beyond(best(spectral).states, many)
    beyond += [] if vectors is None else work.with_words(best(spectral).states, vectors)
    negative = {row.states: work.negative(row) for row in spectral}
    chosen = [pcfg, *(best(em, kind) for kind in EM_KINDS), best(spectral)]
    scores = work.on_test(chosen) if test else None
    every_row = [pcfg, *em, *spectral, *other]
    figures: dict[str, object] = {
        "treebank": folder.name,
        "rows": [asdict(row) for row in every_row],
        "stages": {str(m): times for m, times in stages.items()},
        "negative": {str(m): count for m, count in negative.items()},
        "beyond": [asdict(row) for row in beyond],
        "test": dict(zip((row.name for row in chosen), scores, strict=True)) if scores else {},
    }
    plots = {
        "table1.svg": line_plot(
            curves(em, lambda row: f"{row.name}, m={row.states}", lambda row: row.rounds),
            title="EM by rounds",
            x_label="rounds",
            y_label="F1, development",
        ),
        "table2.svg": line_plot(
            curves([*_best_em(em), *spectral, *other[1:]]),
            title="F1 by states",
            x_label="states",
            y_label="F1, development",
        ),
        "results.csv": _csv(every_row),
    }
    page = _page(folder.name, states, pcfg, em, spectral, stages, other, chosen, scores)
    counts = ", ".join(f"{count} (m={m})" for m, count in negative.items())
    page += f"\nSentences of negative probability, of {len(work.dev)}: {counts}.\n\n"
    page += "\n".join(["## Beyond the paper", "", *_beyond(beyond)])
    return Results(figures, page, plots)


def _best_em(em: Sequence[Row]) -> list[Row]:
    """The best round of each kind of EM and number of states."""
    groups = dict.fromkeys((row.name, row.states) for row in em)
    return [best([row for row in em if (row.name, row.states) == group]) for group in groups]


def _csv(rows: Sequence[Row]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, asdict(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return out.getvalue()


def _page(
    name: str,
    states: Sequence[int],
    pcfg: Row,
    em: Sequence[Row],
    spectral: Sequence[Row],
    stages: dict[int, dict[str, float]],
    other: Sequence[Row],
    chosen: Sequence[Row],
    scores: Sequence[float] | None,
) -> str:
    rounds = sorted({row.rounds for row in em})
    best_em = {(row.name, row.states): row for row in _best_em(em)}
    lines = [f"# Cohen et al. (2013) on {name}", "", "## Table 1: EM by rounds, F1 on the development part", ""]
    lines += table(
        ["", "states", *map(str, rounds)],
        [
            [kind, str(m), *(f"{row.dev:.2f}" for row in em if (row.name, row.states) == (kind, m))]
            for kind in EM_KINDS
            for m in states
        ],
    )
    lines += ["## Table 2: F1 on the development part (the paper's, all of the Penn Treebank, behind it)", ""]
    lines += table(
        ["states", *EM_KINDS, "spectral", "EM in the paper", "spectral in the paper"],
        [
            [
                str(row.states),
                *(f"{best_em[kind, row.states].dev:.2f}" for kind in EM_KINDS),
                f"{row.dev:.2f}",
                *(
                    f"{PAPER[kind, row.states]:.2f}" if (kind, row.states) in PAPER else ""
                    for kind in ("EM", "spectral")
                ),
            ]
            for row in spectral
        ],
    )
    lines += [f"A plain PCFG has {pcfg.dev:.2f} (in the paper {PAPER['PCFG', 1]:.2f}).", ""]
    if scores:
        lines += ["Test part, the best of each on the development part:", ""]
        lines += table(
            ["", "states", "rounds", "test"],
            [
                [row.name, str(row.states), str(row.rounds or ""), f"{score:.2f}"]
                for row, score in zip(chosen, scores, strict=True)
            ],
        )
    lines += ["## Table 3: seconds of learning", ""]
    stage_names = list(next(iter(stages.values())))
    lines += table(
        ["states", "one round of EM", "best EM", "best EM + back-off", "spectral", *stage_names, "EM : spectral"],
        [
            [
                str(row.states),
                f"{_one_round(em, row.states):.2f}",
                *(f"{best_em[kind, row.states].seconds:.1f}" for kind in EM_KINDS),
                f"{row.seconds:.2f}",
                *(f"{stages[row.states][stage]:.2f}" for stage in stage_names),
                f"{best_em['EM', row.states].seconds / row.seconds:.1f}",
            ]
            for row in spectral
        ],
    )
    lines += ["## §4.3: what the parts are worth, F1 on the development part", ""]
    lines += table(
        ["", *(f"m={m}" for m in states)],
        [
            ["spectral", *(f"{row.dev:.2f}" for row in spectral)],
            *(
                [kind, *(f"{row.dev:.2f}" for row in other if row.name == kind)]
                for kind in dict.fromkeys(row.name for row in other[1:])
            ),
        ],
    )
    lines += [f"A PCFG that knows parents and siblings has {other[0].dev:.2f}.", ""]
    return "\n".join([*lines, "![Table 1](table1.svg)", "![Table 2](table2.svg)", ""])


def _beyond(rows: Sequence[Beyond]) -> list[str]:
    return table(
        [
            "",
            "states",
            "F1 on the development part",
            "seconds of learning",
            "last stage of parsing, ms per sentence",
        ],
        [
            [
                row.name,
                str(row.states),
                f"{row.dev:.2f}",
                f"{row.seconds:.1f}",
                "" if row.stage is None else f"{row.stage:.2f}",
            ]
            for row in rows
        ],
    )


def _one_round(em: Sequence[Row], states: int) -> float:
    rows = [row for row in em if (row.name, row.states) == ("EM", states)]
    if len(rows) < 2:
        return rows[0].seconds / rows[0].rounds
    return (rows[-1].seconds - rows[0].seconds) / (rows[-1].rounds - rows[0].rounds)
