"""A new way to learn a model that is there already."""

from dataclasses import replace

import numpy as np

from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.kinds.kind import Context
from latentgram.lpcfg.counting import count_pcfg
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.settings import CountingLPCFG
from latentgram_branching.settings import Flattening


def learn_flat(treebank: Treebank[Tree], settings: Flattening, context: Context) -> LPCFG:
    """p(a→β) ∝ count(a→β)^power over the rules and words of a."""
    grammar = count_pcfg(treebank, CountingLPCFG(), context)
    rule, word = grammar.rule_count**settings.power, grammar.lexicon_count**settings.power
    of_rules = np.bincount(grammar.rules[:, 0], rule, len(grammar.states))
    total = of_rules + np.bincount(grammar.lexicon[:, 0], word, len(grammar.states))
    return replace(
        grammar,
        rule_tensor=rule / total[grammar.rules[:, 0]],
        lexicon_vector=word / total[grammar.lexicon[:, 0]],
    )
