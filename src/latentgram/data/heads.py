"""Head rules for English, the choice of rules for a treebank, and the dependencies that follow from heads.

`COLLINS` is the table of Collins (1999, appendix A) for Penn labels, used by the parser of Klein and Manning
(2003) and so by Cohen et al. (2013), with his rule for coordination: if the child before the head is a
conjunction, the head is the child before that. `ENGLISH` is the table with *to* below the verb it marks, and
without that rule.

A word depends on the head word of the smallest constituent that contains it and is headed by another word.
"""

from __future__ import annotations

import numpy as np

from latentgram.arrays import Ints32
from latentgram.data.alphabet import ABSENT
from latentgram.data.dependencies import ROOT, DependencyTree
from latentgram.data.forest import Forest
from latentgram.data.head_rules import HeadRules, mask_of


def fitting_rules(forest: Forest) -> HeadRules:
    """`ENGLISH` where it asks for a child of 19 of 20 nodes with several, else rules learned from the treebank.

    >>> from latentgram.data.brackets import parse_forest
    >>> fitting_rules(parse_forest("(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (PRP it))) (. .))")) is ENGLISH
    True
    >>> fitting_rules(parse_forest("(IP (NP (NN 猫)) (VP (VV 睡) (AS 了)))")) is ENGLISH
    False
    """
    rank, _ = ENGLISH.ranks(forest.labels)
    child = np.flatnonzero(forest.parent != ABSENT)
    parent = forest.parent[child]
    passes = np.diff(ENGLISH.passes(forest.labels)[0])
    asked = np.zeros(len(forest.label), bool)
    asked[parent[rank[forest.label[parent], forest.label[child]] < passes[forest.label[parent]]]] = True
    ruled = mask_of(forest.labels, tuple(ENGLISH.rules))[forest.label]
    fitting = (asked & ruled)[forest.arity > 1]
    return ENGLISH if fitting.size and fitting.mean() >= 0.95 else HeadRules.learn(forest)


def dependency_heads(forest: Forest, rules: HeadRules) -> Ints32:
    """The head of every word of the forest, from 1 in its sentence, 0 for the root; sentence after sentence."""
    word = rules.head_words(forest)
    offset = np.concatenate((np.zeros(1, np.int64), np.cumsum(forest.lengths)))[:-1]
    heads = np.full(int(forest.lengths.sum()), ROOT, np.int32)
    parent = forest.parent
    # A word's topmost node is the one whose parent has another head word.
    top = np.flatnonzero((parent != ABSENT) & (word != word[parent]))
    heads[offset[forest.tree_of[top]] + word[top]] = word[parent[top]] + 1
    return heads


def dependencies(forest: Forest, rules: HeadRules) -> list[DependencyTree]:
    """The unlabelled dependency trees of constituency trees; tags go to XPOS."""
    heads = np.split(dependency_heads(forest, rules), np.cumsum(forest.lengths)[:-1])
    return [
        DependencyTree(sentence.words, tuple(own.tolist()), xpos=sentence.xpos or ())
        for sentence, own in zip(forest.sentences(), heads, strict=True)
    ]


COLLINS = HeadRules(
    {
        "ADJP": ("left NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB",),
        "ADVP": ("right RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN",),
        "CONJP": ("right CC RB IN",),
        "FRAG": ("right",),
        "INTJ": ("left",),
        "LST": ("right LS :",),
        "NAC": ("left NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW",),
        "NML": (
            "rightmost NN NNP NNPS NNS NX NML",
            "left NP",
            "rightmost $ ADJP PRN",
            "right CD",
            "rightmost JJ JJS RB QP",
        ),
        "NP": (
            "rightmost NN NNP NNPS NNS NX NML POS JJR",
            "left NP",
            "rightmost $ ADJP PRN",
            "right CD",
            "rightmost JJ JJS RB QP",
            "right",
        ),
        "NX": ("rightmost NN NNP NNPS NNS NX NML POS JJR", "left NP", "rightmost $ ADJP PRN", "right CD JJ"),
        "PP": ("right IN TO VBG VBN RP FW",),
        "PRN": ("left",),
        "PRT": ("right RP",),
        "QP": ("left $ IN NNS NN JJ RB DT CD QP JJR JJS",),
        "RRC": ("right VP NP ADVP ADJP PP",),
        "S": ("left TO IN VP S SBAR ADJP UCP NP",),
        "SBAR": ("left WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG",),
        "SBARQ": ("left SQ S SINV SBARQ FRAG",),
        "SINV": ("left VBZ VBD VBP VB MD VP S SINV ADJP NP",),
        "SQ": ("left VBZ VBD VBP VB MD VP SQ",),
        "UCP": ("right",),
        "VP": ("left TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP",),
        "WHADJP": ("left CC WRB JJ ADJP",),
        "WHADVP": ("right CC WRB",),
        "WHNP": ("left WDT WP WP$ WHADJP WHPP WHNP",),
        "WHPP": ("right IN TO FW",),
        "X": ("right",),
    },
    coordination=("CC",),
)
"""Penn Treebank English, as printed."""
ENGLISH = HeadRules({**COLLINS.rules, "VP": ("left VBD VBN MD VBZ VB VBG VBP VP TO ADJP NN NNS NP",)})
"""Penn Treebank English, with content verbs as heads of *to*."""
