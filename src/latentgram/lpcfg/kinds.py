"""The rows of latent-variable PCFGs and their ensembles: what one can do, several can do."""

from __future__ import annotations

import dataclasses

from latentgram.kinds.kind import PHRASES, Kind, Recipe

_SETTINGS = "latentgram.lpcfg.settings"

_GRAMMAR = Kind(
    "latentgram.lpcfg.model:LPCFG",
    PHRASES,
    {
        "Clustering": Recipe(
            "latentgram.lpcfg.clustering:learn_clusters", f"{_SETTINGS}:ClusteringLPCFG", chooses=True
        ),
        "Counting": Recipe("latentgram.lpcfg.counting:count_pcfg", f"{_SETTINGS}:CountingLPCFG"),
        "Spectral": Recipe(
            "latentgram.lpcfg.spectral:learn_spectral", f"{_SETTINGS}:SpectralLPCFG", chooses="search"
        ),
        "EM": Recipe("latentgram.lpcfg.em:learn_em", f"{_SETTINGS}:EMLPCFG", chooses=True),
    },
    parts=(
        "latentgram.lpcfg.decoders:Brackets",
        "latentgram.lpcfg.decoders:Goodman",
        "latentgram.lpcfg.decoders:MaxRule",
        "latentgram.lpcfg.parse.pruning:Pruning",
    ),
    command="lpcfg",
    help="A PCFG with hidden states (or without, by counting): a constituency parser, learned in seconds.",
    parser="latentgram.lpcfg.parse.backend:PhraseBackend",
    prunes=True,
    reader="latentgram.lpcfg.surprisal:reader",
    over="trees with their words",
    mass="latentgram.lpcfg.mass:tree_mass",
    update="latentgram.lpcfg.update:update",
    inspect="latentgram.lpcfg.inspect.inspection:GrammarInspection",
)
_ENSEMBLE = dataclasses.replace(
    _GRAMMAR,
    model="latentgram.lpcfg.model:Ensemble",
    recipes={"Combining": Recipe("latentgram.lpcfg.combining:learn_ensemble", f"{_SETTINGS}:CombiningEnsemble")},
    parts=(),
    command="ensemble",
    help="Several latent-variable PCFGs that parse together.",
)
_CHART_CRF = dataclasses.replace(
    _GRAMMAR,
    model="latentgram.lpcfg.crf.model:ChartCRF",
    recipes={"Gradient": Recipe("latentgram.lpcfg.crf.learning:learn_chart_crf", f"{_SETTINGS}:GradientChartCRF")},
    parts=(),
    command="chart-crf",
    help="A latent-variable PCFG with a conditional random field: much more accurate than the grammar alone.",
    over="trees given the sentence",
    mass="",
    parser="latentgram.lpcfg.crf.parse:ChartCRFBackend",
    reader="latentgram.lpcfg.crf.model:read_words",
    update="latentgram.lpcfg.crf.update:update",
    inspect="latentgram.lpcfg.crf.model:inspection",
)
_COMMITTEE = dataclasses.replace(
    _CHART_CRF,
    model="latentgram.lpcfg.committee.model:Committee",
    recipes={
        "Gradient": Recipe("latentgram.lpcfg.committee.learning:learn_committee", f"{_SETTINGS}:GradientCommittee")
    },
    command="committee",
    help="Several chart-crf models that parse together: the most accurate for phrases, at several times the cost.",
    parser="latentgram.lpcfg.committee.parse:CommitteeBackend",
    reader="latentgram.lpcfg.committee.model:read_words",
    update="latentgram.lpcfg.committee.learning:update",
    inspect="latentgram.lpcfg.committee.model:inspection",
)
KINDS = [_GRAMMAR, _ENSEMBLE, _CHART_CRF, _COMMITTEE]
