"""latentgram: latent-variable grammars from treebanks, tagged text and n-gram counts, with exact probabilities.

Every public name is here and loads on first use, so that `import latentgram` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "Alphabet": "latentgram.data.alphabet",
    "Tree": "latentgram.data.tree",
    "parse_tree": "latentgram.data.brackets",
    "Forest": "latentgram.data.forest",
    "Binarisation": "latentgram.data.transforms",
    "RareWords": "latentgram.data.rarewords",
    "DependencyTree": "latentgram.data.dependencies",
    "Sentence": "latentgram.data.sentence",
    "Text": "latentgram.data.text",
    "TagDictionary": "latentgram.data.tag_dictionary",
    "HMM": "latentgram.models.hmm",
    "BackoffNGram": "latentgram.models.ngram",
    "NGramCounts": "latentgram.data.ngram_counts",
    "read_arpa": "latentgram.learn.ngram",
    "remember_tags": "latentgram.learn.ngram_tagger",
    "NGramTagger": "latentgram.models.ngram_tagger",
    "OperatorAutomaton": "latentgram.models.automaton",
    "LatentTree": "latentgram.models.latent_tree",
    "Tagger": "latentgram.models.tagger",
    "TopDown": "latentgram.models.top_down",
    "WordVectors": "latentgram.models.word_vectors",
    "Tokeniser": "latentgram.data.tokenise",
    "Treebank": "latentgram.data.treebank",
    "TreebankStream": "latentgram.data.treebank_stream",
    "demo_treebank": "latentgram.data.demo",
    "demo_dependencies": "latentgram.data.demo",
    "ArcFactored": "latentgram.models.arcs",
    "ArcWeights": "latentgram.models.arc_weights",
    "MIRA": "latentgram.learn.learners",
    "Gradient": "latentgram.learn.learners",
    "Perceptron": "latentgram.learn.learners",
    "Reranker": "latentgram.models.reranker",
    "NBestList": "latentgram.models.nbest",
    "Counting": "latentgram.learn.learners",
    "SHAG": "latentgram.models.shag",
    "LEFT": "latentgram.models.shag",
    "RIGHT": "latentgram.models.shag",
    "LexicalSHAG": "latentgram.models.lexical",
    "ArcDistance": "latentgram.models.arc_distance",
    "ProductSHAG": "latentgram.models.product",
    "EM": "latentgram.learn.learners",
    "Variational": "latentgram.learn.learners",
    "Spectral": "latentgram.learn.learners",
    "Clustering": "latentgram.learn.learners",
    "Combining": "latentgram.learn.learners",
    "fit": "latentgram.learn.fit",
    "Cluster": "latentgram.parallel",
    "ClusterError": "latentgram.errors",
    "Ensemble": "latentgram.models.ensemble",
    "LPCFG": "latentgram.models.lpcfg",
    "Parse": "latentgram.parser.result",
    "Parser": "latentgram.parser.parser",
    "accuracy_on": "latentgram.parser.parser",
    "Goodman": "latentgram.decode.goodman",
    "Brackets": "latentgram.decode.brackets",
    "Constraints": "latentgram.data.constraints",
    "MBR": "latentgram.decode.mbr",
    "MaxRule": "latentgram.decode.maxrule",
    "Pruning": "latentgram.decode.prune",
    "Viterbi": "latentgram.decode.viterbi",
    "score_attachment": "latentgram.evaluate.attachment",
    "score_brackets": "latentgram.evaluate.bracketing",
    "score_tags": "latentgram.evaluate.tagging",
    "calibrate": "latentgram.parser.calibrate",
    "reliability": "latentgram.parser.calibrate",
    "calibration": "latentgram.evaluate.calibration",
    "measure_speed": "latentgram.parser.speed",
    "paired_bootstrap": "latentgram.evaluate.compare",
    "load": "latentgram.store",
    "save": "latentgram.store",
    "LatentgramError": "latentgram.errors",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'latentgram' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
