"""The rows of HMMs, operator automata and back-off n-grams."""

from __future__ import annotations

from latentgram.kinds.kind import COUNTS, NGRAMS, TAGGED, TEXT, TEXT_OR_COUNTS, Kind, Recipe

_SETTINGS = "latentgram.sequences.settings"
_NO_TAGS = "states learned so are not tags: the same model in their space is an OperatorAutomaton by "
_TAGS = "'latentgram tag' tags with it, and 'latentgram eval GOLD OUTPUT' scores what it tagged"
_EM, _COUNTING = "latentgram.sequences.em", "latentgram.sequences.counting"

KINDS = [
    Kind(
        "latentgram.sequences.hmm:HMM",
        TEXT,
        {
            "EM": Recipe(f"{_EM}:em_hmm", f"{_SETTINGS}:EMHMM", chooses=True),
            "Variational": Recipe(
                "latentgram.sequences.variational:variational_hmm",
                f"{_SETTINGS}:VariationalHMM",
                reads=NGRAMS,
                chooses=True,
            ),
            "Counting": Recipe(f"{_COUNTING}:count_hmm", f"{_SETTINGS}:CountingHMM", reads=TAGGED),
        },
        command="hmm",
        help="A hidden Markov model from text, tagged text or n-grams.",
        use=f"{_TAGS}; 'latentgram score' gives log-probabilities of text",
        update="latentgram.sequences.update:update_hmm",
        updates="latentgram.sequences.update:updates_hmm",
        instead={learner: _NO_TAGS + learner for learner in ("Spectral", "Clustering")},
        tagger=True,
        scores="sentences",
        over="sentences with their tags",
        mass="latentgram.sequences.mass:tagged_mass",
    ),
    Kind(
        "latentgram.sequences.automaton:OperatorAutomaton",
        TEXT,
        {
            "EM": Recipe(f"{_EM}:em_automaton", f"{_SETTINGS}:EMAutomaton", chooses=True),
            "Counting": Recipe(f"{_COUNTING}:count_automaton", f"{_SETTINGS}:CountingHMM", reads=TAGGED),
            "Spectral": Recipe(
                "latentgram.sequences.spectral:spectral_automaton",
                f"{_SETTINGS}:SpectralAutomaton",
                reads=TEXT_OR_COUNTS,
            ),
            "Clustering": Recipe(
                "latentgram.sequences.spectral:clustered_automaton", f"{_SETTINGS}:ClusteringAutomaton"
            ),
        },
        command="automaton",
        help="An operator automaton, the spectral form of a hidden Markov model, from text.",
        use="'latentgram score' gives log-probabilities of text",
        scores="sentences",
        over="sentences",
        mass="latentgram.sequences.mass:string_mass",
    ),
    Kind(
        "latentgram.sequences.ngram:BackoffNGram",
        COUNTS,
        {"Counting": Recipe(f"{_COUNTING}:count_backoff", f"{_SETTINGS}:CountingNGram")},
        use="'latentgram score' and 'latentgram ngram query' give log-probabilities of text",
        scores="sentences",
        parts=("latentgram.sequences.compact:CompactNGram",),
        over="sentences",
        mass="latentgram.sequences.mass:ngram_mass",
    ),
    Kind("latentgram.sequences.ngram_tagger:NGramTagger", TEXT, use=_TAGS, tagger=True),
]
