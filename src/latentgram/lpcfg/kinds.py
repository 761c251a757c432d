"""The rows of latent-variable PCFGs and their ensembles: what one can do, several can do."""

from __future__ import annotations

from dataclasses import replace

from latentgram.kinds.kind import PHRASES, Kind

_GRAMMAR = (
    Kind("latentgram.lpcfg.model:LPCFG", PHRASES, prunes=True)
    .parsing(".parse.backend:PhraseBackend")
    .about("trees with their words", ".mass:tree_mass")
    .updated(".update:update")
    .seen(".inspect.inspection:GrammarInspection", ".surprisal:reader")
)
_LAYER = (
    Kind("latentgram.lpcfg.crf.model:ChartCRF", PHRASES, prunes=True, charted=True)
    .parsing(".crf.parse:ChartCRFBackend")
    .about("trees given the sentence")
)
KINDS = [
    _GRAMMAR.by("Clustering", ".clustering:learn_clusters", "ClusteringLPCFG", chooses=True)
    .by("Counting", ".counting:count_pcfg", "CountingLPCFG")
    .by("Spectral", ".spectral:learn_spectral", "SpectralLPCFG", chooses="search")
    .by("EM", ".em:learn_em", "EMLPCFG", chooses=True)
    .trained(
        "lpcfg", "A PCFG with hidden states (or without, by counting): a constituency parser, learned in seconds."
    )
    .holding(".decoders:Brackets", ".decoders:Goodman", ".decoders:MaxRule", ".parse.pruning:Pruning"),
    replace(_GRAMMAR, model="latentgram.lpcfg.model:Ensemble", charted=True)
    .by("Combining", ".combining:learn_ensemble", "CombiningEnsemble")
    .trained("ensemble", "Several latent-variable PCFGs that parse together."),
    _LAYER.by("Gradient", ".crf.learning:learn_chart_crf", "GradientChartCRF")
    .trained(
        "chart-crf",
        "A latent-variable PCFG with a conditional random field: much more accurate than the grammar alone.",
    )
    .updated(".crf.update:update")
    .seen(".crf.model:inspection", ".crf.model:read_words"),
    replace(_LAYER, model="latentgram.lpcfg.committee.model:Committee")
    .by("Gradient", ".committee.learning:learn_committee", "GradientCommittee")
    .trained(
        "committee",
        "Several chart-crf models that parse together: the most accurate for phrases, at several times the cost.",
    )
    .parsing(".committee.parse:CommitteeBackend")
    .updated(".committee.learning:update")
    .seen(".committee.model:inspection", ".committee.model:read_words"),
]
