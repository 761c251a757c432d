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
    "Binarisation": "latentgram.data.binarisation",
    "RareWords": "latentgram.data.rarewords",
    "DependencyTree": "latentgram.data.dependencies",
    "Sentence": "latentgram.data.sentence",
    "Text": "latentgram.data.text",
    "TagDictionary": "latentgram.data.tag_dictionary",
    "HMM": "latentgram.sequences.hmm",
    "BackoffNGram": "latentgram.sequences.ngram",
    "NGramCounts": "latentgram.data.ngrams.counts",
    "read_arpa": "latentgram.sequences.counting",
    "remember_tags": "latentgram.sequences.ngram_tagger",
    "NGramTagger": "latentgram.sequences.ngram_tagger",
    "OperatorAutomaton": "latentgram.sequences.automaton",
    "LatentTree": "latentgram.latent_tree.model",
    "Tagger": "latentgram.tagger.model",
    "TopDown": "latentgram.arcs.top_down",
    "WordVectors": "latentgram.latent_tree.word_vectors",
    "Tokeniser": "latentgram.data.tokenise",
    "Treebank": "latentgram.data.treebank",
    "TreebankStream": "latentgram.data.treebank",
    "demo_treebank": "latentgram.data.demo",
    "demo_dependencies": "latentgram.data.demo",
    "ArcFactored": "latentgram.arcs.model",
    "ArcWeights": "latentgram.arcs.factor",
    "MIRA": "latentgram.kinds.learners",
    "Gradient": "latentgram.kinds.learners",
    "Perceptron": "latentgram.kinds.learners",
    "Reranker": "latentgram.arcs.reranker",
    "NBestList": "latentgram.arcs.nbest",
    "Counting": "latentgram.kinds.learners",
    "SHAG": "latentgram.shag.model",
    "LEFT": "latentgram.shag.model",
    "RIGHT": "latentgram.shag.model",
    "LexicalSHAG": "latentgram.shag.lexical",
    "ArcDistance": "latentgram.shag.distance",
    "ProductSHAG": "latentgram.shag.product",
    "EM": "latentgram.kinds.learners",
    "Variational": "latentgram.kinds.learners",
    "Spectral": "latentgram.kinds.learners",
    "Clustering": "latentgram.kinds.learners",
    "Combining": "latentgram.kinds.learners",
    "fit": "latentgram.learn.fit",
    "Kind": "latentgram.kinds.kind",
    "Recipe": "latentgram.kinds.kind",
    "register": "latentgram.kinds.registry",
    "Cluster": "latentgram.parallel",
    "ClusterError": "latentgram.errors",
    "Ensemble": "latentgram.lpcfg.model",
    "LPCFG": "latentgram.lpcfg.model",
    "Parse": "latentgram.kinds.result",
    "Parser": "latentgram.parser.parser",
    "accuracy_on": "latentgram.parser.parser",
    "Goodman": "latentgram.lpcfg.decoders",
    "Brackets": "latentgram.lpcfg.decoders",
    "Constraints": "latentgram.data.constraints",
    "MBR": "latentgram.kinds.decoders",
    "MaxRule": "latentgram.lpcfg.decoders",
    "Pruning": "latentgram.lpcfg.parse.pruning",
    "Viterbi": "latentgram.kinds.decoders",
    "score_attachment": "latentgram.evaluate.attachment",
    "score_brackets": "latentgram.evaluate.bracketing",
    "score_tags": "latentgram.evaluate.tagging",
    "calibrate": "latentgram.parser.reliability",
    "reliability": "latentgram.parser.reliability",
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
