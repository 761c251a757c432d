"""The rows of HMMs, operator automata and back-off n-grams."""

from __future__ import annotations

from latentgram.kinds.kind import COUNTS, NGRAMS, TAGGED, TEXT, TEXT_OR_COUNTS, Kind

_NO_TAGS = "states learned so are not tags: the same model in their space is an OperatorAutomaton by "
_TAGS = "'latentgram tag' tags with it, and 'latentgram eval GOLD OUTPUT' scores what it tagged"
_SCORES = "'latentgram score' gives log-probabilities of text"

_HMM = Kind(
    "latentgram.sequences.hmm:HMM",
    TEXT,
    instead={learner: _NO_TAGS + learner for learner in ("Spectral", "Clustering")},
    tagger=True,
    cut_at_blanks=True,
    lookup="latentgram.sequences.ngram_tagger:remember_tags",
    scores="sentences",
)
KINDS = [
    _HMM.by("EM", ".em:em_hmm", "EMHMM", chooses=True)
    .by("Variational", ".variational:variational_hmm", "VariationalHMM", reads=NGRAMS, chooses=True)
    .by("Counting", ".counting:count_hmm", "CountingHMM", reads=TAGGED)
    .trained("hmm", "A hidden Markov model from text, tagged text or n-grams.", f"{_TAGS}; {_SCORES}")
    .about("sentences with their tags", ".mass:tagged_mass")
    .updated(".update:update_hmm", ".update:updates_hmm"),
    Kind("latentgram.sequences.automaton:OperatorAutomaton", TEXT, scores="sentences")
    .by("EM", ".em:em_automaton", "EMAutomaton", chooses=True)
    .by("Counting", ".counting:count_automaton", "CountingHMM", reads=TAGGED)
    .by("Spectral", ".spectral:spectral_automaton", "SpectralAutomaton", reads=TEXT_OR_COUNTS)
    .by("Clustering", ".spectral:clustered_automaton", "ClusteringAutomaton")
    .trained(
        "automaton",
        "An operator automaton, the spectral form of a hidden Markov model, from text.",
        _SCORES,
    )
    .about("sentences", ".mass:string_mass"),
    Kind(
        "latentgram.sequences.ngram:BackoffNGram",
        COUNTS,
        use="'latentgram score' and 'latentgram ngram query' give log-probabilities of text",
        scores="sentences",
    )
    .by("Counting", ".counting:count_backoff", "CountingNGram")
    .holding(".compact:CompactNGram")
    .about("sentences", ".mass:ngram_mass"),
    Kind("latentgram.sequences.ngram_tagger:NGramTagger", TEXT, use=_TAGS, tagger=True),
]
