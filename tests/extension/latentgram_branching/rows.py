"""What the registry is told; nothing else is imported before it is used."""

from latentgram.kinds.kind import PHRASES, Kind, Recipe

ROWS = [
    Kind(
        "latentgram_branching.model:Branching",
        PHRASES,
        {
            "Guessing": Recipe(
                "latentgram_branching.model:learn_branching",
                "latentgram_branching.settings:Guessing",
                learner="latentgram_branching.settings:Guessing",
            )
        },
        command="branching",
        help="The baseline that brackets every sentence to one side.",
        parser="latentgram_branching.model:BranchingBackend",
    ),
    Kind(
        "latentgram.lpcfg.model:LPCFG",
        PHRASES,
        {
            "Flattening": Recipe(
                "latentgram_branching.flattening:learn_flat",
                "latentgram_branching.settings:Flattening",
                learner="latentgram_branching.settings:Flattening",
            )
        },
    ),
]
