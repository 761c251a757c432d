"""The rows of latent-variable PCFGs and their ensembles."""

from __future__ import annotations

from latentgram.kinds.kind import PHRASES, Kind, Recipe

_SETTINGS = "latentgram.lpcfg.settings"

KINDS = [
    Kind(
        "latentgram.lpcfg.model:LPCFG",
        PHRASES,
        {
            "Counting": Recipe("latentgram.lpcfg.counting:count_pcfg", f"{_SETTINGS}:CountingLPCFG"),
            "Spectral": Recipe(
                "latentgram.lpcfg.spectral:learn_spectral", f"{_SETTINGS}:SpectralLPCFG", chooses="search"
            ),
            "EM": Recipe("latentgram.lpcfg.em:learn_em", f"{_SETTINGS}:EMLPCFG", chooses=True),
            "Clustering": Recipe(
                "latentgram.lpcfg.em:learn_clusters", f"{_SETTINGS}:ClusteringLPCFG", chooses=True
            ),
        },
        parts=(
            "latentgram.lpcfg.decoders:Brackets",
            "latentgram.lpcfg.decoders:Goodman",
            "latentgram.lpcfg.decoders:MaxRule",
            "latentgram.lpcfg.parse.pruning:Pruning",
        ),
        command="lpcfg",
        help="A (latent-variable) PCFG from a constituency treebank.",
        parser="latentgram.lpcfg.parse.plain:constituency_backend",
        prunes=True,
        surprisal="latentgram.lpcfg.surprisal:Surprisal",
        update="latentgram.lpcfg.update:update",
        inspect="latentgram.lpcfg.inspect.inspection:GrammarInspection",
    ),
    Kind(
        "latentgram.lpcfg.ensemble:Ensemble",
        PHRASES,
        {"Combining": Recipe("latentgram.lpcfg.combining:learn_ensemble", f"{_SETTINGS}:CombiningEnsemble")},
        command="ensemble",
        help="Several latent-variable PCFGs that parse together.",
        parser="latentgram.lpcfg.parse.plain:constituency_backend",
        prunes=True,
        surprisal="latentgram.lpcfg.surprisal:Surprisal",
        update="latentgram.lpcfg.update:update",
        inspect="latentgram.lpcfg.inspect.inspection:GrammarInspection",
    ),
]
