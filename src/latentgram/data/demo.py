"""The demo treebank: English-like sentences sampled from a feature grammar, as constituents and as dependencies.

Most of what determines a structure here is *not* in the labels. All prepositions are tagged IN, but `of` joins
nouns, `into` goes with verbs of motion, `by` with passives, `after` with any verb, and `with` with persons, places
or, as an instrument, verbs that act on things. Noun phrases have number and class (person, thing, place), clauses
have tense: conjuncts are of one class, the verb of a relative clause agrees with the noun it modifies, an adverb
of time with the tense of its verb, and each kind of verb selects its own complements. A PCFG over the bare labels
cannot represent any of this; one with hidden states can.

Nothing here is taken from a corpus; the treebank may be used for anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice

from latentgram.data import demo_words as lexicon
from latentgram.data.dependencies import DependencyTree
from latentgram.data.feature_grammar import Draw, FeatureGrammar
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import check_number

MOST_SENTENCES = 1_000_000
"""The largest demo treebank: one of this size takes 4 GB of memory."""

VARIABLES = {
    "n": ("NN", "NNS"),  # number of a noun phrase, named by the tag of its noun
    "m": ("NN", "NNS"),
    "c": ("person", "thing", "place"),  # class of a noun phrase
    "d": ("person", "thing", "place"),
    "s": ("person", "person", "person", "thing", "place"),  # class of a subject: mostly persons
    "f": ("VB", "VBZ", "VBP", "VBD", "VBN", "VBG"),  # form of a verb phrase, named by the tag of its verb
    "t": ("pres", "past"),  # tense of a clause
}

GRAMMAR = """
30 TOP -> S[top,t]:*
3  TOP -> SQ[top]:*
3  TOP -> SBARQ:*

# Clauses: the subject agrees with the verb; `was` and `were` are the only past forms that show number.
10 S[top,pres] -> NP[NN,s]:nsubj VP[VBZ]:* .:punct
8  S[top,pres] -> NP[NNS,s]:nsubj VP[VBP]:* .:punct
14 S[top,past] -> NP[n,s]:nsubj VP[VBD]:* .:punct
2  S[top,past] -> NP[NN,s]:nsubj VP[was]:* .:punct
2  S[top,past] -> NP[NNS,s]:nsubj VP[were]:* .:punct
3  S[top,t]    -> S[t]:* CC:cc> S[t]:conj .:punct
2  S[top,t]    -> PP[after]:obl ,:punct S[t]:* .:punct
10 S[pres] -> NP[NN,s]:nsubj VP[VBZ]:*
8  S[pres] -> NP[NNS,s]:nsubj VP[VBP]:*
14 S[past] -> NP[n,s]:nsubj VP[VBD]:*
2  S[past] -> NP[NN,s]:nsubj VP[was]:*
2  S[past] -> NP[NNS,s]:nsubj VP[were]:*
2  S[t]    -> S[t]:* CC:cc> S[t]:conj

# Verb phrases: each kind of verb has its complements.
5  VP[f] -> $f[intr]:*
4  VP[f] -> $f[intr]:* PP[after]:obl
7  VP[f] -> $f[tran]:* NP[n,thing]:obj
7  VP[f] -> $f[tran]:* NP[n,thing]:obj PP[with]:obl
7  VP[f] -> $f[meet]:* NP[n,person]:obj
5  VP[f] -> $f[meet]:* NP[n,person]:obj PP[after]:obl
4  VP[f] -> $f[give]:* NP[n,person]:iobj NP[m,thing]:obj
4  VP[f] -> $f[give]:* NP[n,thing]:obj PP[to]:obl
7  VP[f] -> $f[put]:* NP[n,thing]:obj PP[into]:obl
6  VP[f] -> $f[go]:* PP[into]:obl
1  VP[f] -> $f[say]:* SBAR[that]:ccomp
2  VP[f] -> $f[say]:* S[t]:ccomp
2  VP[f] -> VP[f]:* CC:cc> VP[f]:conj
2  VP[f] -> VP[f]:* ADVP[manner]:advmod

# Adverbs of time go with a tense; auxiliaries and modals with a form.
6  VP[VBZ] -> VP[VBZ]:* ADVP[pres]:advmod
6  VP[VBP] -> VP[VBP]:* ADVP[pres]:advmod
8  VP[VBD] -> VP[VBD]:* ADVP[past]:advmod
3  VP[VBZ] -> MD[pres]:aux VP[VB]:*
3  VP[VBP] -> MD[pres]:aux VP[VB]:*
4  VP[VBD] -> MD[past]:aux VP[VB]:*
3  VP[VBZ] -> VBZ[have]:aux VP[VBN]:*
3  VP[VBP] -> VBP[have]:aux VP[VBN]:*
3  VP[VBD] -> VBD[have]:aux VP[VBN]:*
3  VP[VBZ] -> VBZ[be]:aux VP[VBG]:*
3  VP[VBP] -> VBP[be]:aux VP[VBG]:*
5  VP[was]  -> VBD[was]:aux VP[VBG]:*
5  VP[were] -> VBD[were]:aux VP[VBG]:*
2  VP[VBZ] -> VBZ[be]:cop ADJP:*
2  VP[VBP] -> VBP[be]:cop ADJP:*
3  VP[was]  -> VBD[was]:cop ADJP:*
3  VP[were] -> VBD[were]:cop ADJP:*
2  VP[VBZ] -> VBZ[be]:aux:pass VP[passive]:*
2  VP[VBP] -> VBP[be]:aux:pass VP[passive]:*
3  VP[was]  -> VBD[was]:aux:pass VP[passive]:*
3  VP[were] -> VBD[were]:aux:pass VP[passive]:*
6  VP[passive] -> VBN[tran]:* PP[by]:obl
2  VP[passive] -> VBN[tran]:* PP[with]:obl
1  VP[passive] -> VBN[tran]:*
3  ADJP -> JJ:*
1  ADJP -> RB[degree]:advmod JJ:*

# Noun phrases.
12 NP[n,c] -> DT[n]:det $n[c]:*
4  NP[n,c] -> DT[n]:det JJ:amod $n[c]:*
3  NP[NNS,c] -> NNS[c]:*
2  NP[NNS,c] -> JJ:amod NNS[c]:*
2  NP[NNS,c] -> CD:nummod NNS[c]:*
4  NP[NN,person] -> NNP[person]:*
3  NP[NN,place] -> NNP[place]:*
1  NP[NN,thing] -> PRP[it]:*
1  NP[NNS,person] -> PRP[you]:*

# What belongs to which noun: things of persons, persons of places, places of things; `near` and `with` as well.
6  NP[n,thing]  -> NP[n,thing]:* PP[of,person]:nmod
6  NP[n,person] -> NP[n,person]:* PP[of,place]:nmod
4  NP[n,place]  -> NP[n,place]:* PP[of,thing]:nmod
4  NP[n,thing]  -> NP[n,thing]:* PP[near]:nmod
4  NP[n,person] -> NP[n,person]:* PP[with]:nmod

# Conjuncts are of one class; the whole is plural.
7  NP[NNS,c] -> NP[m,c]:* CC:cc> NP[n,c]:conj

# Relative clauses agree with their noun in class and number.
2  NP[n,c] -> NP[n,c]:* SBAR[rel,n,c]:acl:relcl
1  NP[n,thing] -> NP[n,thing]:* VP[passive]:acl
6  SBAR[rel,n,c] -> WHNP[c]:nsubj S[rel,n]:*
4  SBAR[rel,n,thing] -> WHNP[thing]:obj S[gap,tran]:*
4  SBAR[rel,n,person] -> WHNP[person]:obj S[gap,meet]:*
3  S[rel,NN] -> VP[VBZ]:*
2  S[rel,NN] -> VP[VBD]:*
2  S[rel,NN] -> VP[was]:*
3  S[rel,NNS] -> VP[VBP]:*
2  S[rel,NNS] -> VP[VBD]:*
2  S[rel,NNS] -> VP[were]:*
1  S[gap,tran] -> NP[NN,person]:nsubj VP[gap,VBZ,tran]:*
1  S[gap,tran] -> NP[NNS,person]:nsubj VP[gap,VBP,tran]:*
1  S[gap,tran] -> NP[n,person]:nsubj VP[gap,VBD,tran]:*
1  S[gap,meet] -> NP[NN,person]:nsubj VP[gap,VBZ,meet]:*
1  S[gap,meet] -> NP[NNS,person]:nsubj VP[gap,VBP,meet]:*
1  S[gap,meet] -> NP[n,person]:nsubj VP[gap,VBD,meet]:*
3  VP[gap,VBZ,tran] -> VBZ[tran]:*
3  VP[gap,VBP,tran] -> VBP[tran]:*
3  VP[gap,VBD,tran] -> VBD[tran]:*
3  VP[gap,VBZ,meet] -> VBZ[meet]:*
3  VP[gap,VBP,meet] -> VBP[meet]:*
3  VP[gap,VBD,meet] -> VBD[meet]:*
1  VP[gap,VBD,meet] -> VBD[meet]:* ADVP[past]:advmod
2  VP[gap,VBD,tran] -> VBD[tran]:* PP[with]:obl

# Questions: the auxiliary comes first and takes the number, the verb is bare.
1  SQ[top] -> VBZ[do]:aux NP[NN,s]:nsubj VP[VB]:* .[?]:punct
1  SQ[top] -> VBP[do]:aux NP[NNS,s]:nsubj VP[VB]:* .[?]:punct
1  SQ[top] -> VBD[do]:aux NP[n,s]:nsubj VP[VB]:* .[?]:punct
1  SQ[top] -> MD[t]:aux NP[n,s]:nsubj VP[VB]:* .[?]:punct
1  SBARQ -> WHNP[what]:obj SQ[gap,tran]:* .[?]:punct
1  SBARQ -> WHNP[who]:obj SQ[gap,meet]:* .[?]:punct
1  SBARQ -> WHADVP:advmod SQ[in]:* .[?]:punct
1  SBARQ -> WHNP[who]:nsubj SQ[rel]:* .[?]:punct
1  SQ[gap,tran] -> VBZ[do]:aux NP[NN,person]:nsubj VP[gap,VB,tran]:*
1  SQ[gap,tran] -> VBD[do]:aux NP[n,person]:nsubj VP[gap,VB,tran]:*
1  SQ[gap,meet] -> VBP[do]:aux NP[NNS,person]:nsubj VP[gap,VB,meet]:*
1  SQ[gap,meet] -> VBD[do]:aux NP[n,person]:nsubj VP[gap,VB,meet]:*
2  VP[gap,VB,tran] -> VB[tran]:*
1  VP[gap,VB,tran] -> VB[tran]:* PP[with]:obl
2  VP[gap,VB,meet] -> VB[meet]:*
1  VP[gap,VB,meet] -> VB[meet]:* PP[after]:obl
1  SQ[in] -> VBZ[do]:aux NP[NN,s]:nsubj VP[VB]:*
1  SQ[in] -> VBP[do]:aux NP[NNS,s]:nsubj VP[VB]:*
1  SQ[in] -> VBD[do]:aux NP[n,s]:nsubj VP[VB]:*
1  SQ[rel] -> VP[VBZ]:*
1  SQ[rel] -> VP[VBD]:*

# Small phrases.
1  PP[of,d]  -> IN[of]:case NP[n,d]:*
1  PP[near]  -> IN[near]:case NP[n,place]:*
1  PP[with]  -> IN[with]:case NP[n,thing]:*
1  PP[by]    -> IN[by]:case NP[n,person]:*
1  PP[into]  -> IN[into]:case NP[n,place]:*
1  PP[after] -> IN[after]:case NP[n,thing]:*
1  PP[to]    -> TO:case NP[n,person]:*
1  SBAR[that] -> IN[that]:mark S[t]:*
1  ADVP[manner] -> RB[manner]:*
1  ADVP[t]   -> RB[t]:*
3  WHNP[person] -> WP[who]:*
1  WHNP[person] -> WDT[that]:*
1  WHNP[thing] -> WDT[which]:*
1  WHNP[thing] -> WDT[that]:*
1  WHNP[place] -> WDT[which]:*
1  WHNP[what] -> WP[what]:*
1  WHNP[who] -> WP[who]:*
1  WHADVP -> WRB:*
"""

_CLOSED = {
    ".": ("PUNCT", ".", None),
    ".[?]": ("PUNCT", "?", None),
    ",": ("PUNCT", ",", None),
    "CC": ("CCONJ", "and or", None),
    "TO": ("ADP", "to", None),
    "DT[NN]": ("DET", "the a/an this every", None),
    "DT[NNS]": ("DET", "the these some many", None),
    "IN[of]": ("ADP", "of", None),
    "IN[near]": ("ADP", "near in behind above", None),
    "IN[with]": ("ADP", "with without", None),
    "IN[by]": ("ADP", "by", None),
    "IN[into]": ("ADP", "into toward through onto", None),
    "IN[after]": ("ADP", "after before despite during", None),
    "IN[that]": ("SCONJ", "that whether", None),
    "MD[pres]": ("AUX", "will can may must", None),
    "MD[past]": ("AUX", "would could might should", None),
    "VBZ[have]": ("AUX", "has", "have"),
    "VBP[have]": ("AUX", "have", "have"),
    "VBD[have]": ("AUX", "had", "have"),
    "VBZ[be]": ("AUX", "is", "be"),
    "VBP[be]": ("AUX", "are", "be"),
    "VBD[was]": ("AUX", "was", "be"),
    "VBD[were]": ("AUX", "were", "be"),
    "VBZ[do]": ("AUX", "does", "do"),
    "VBP[do]": ("AUX", "do", "do"),
    "VBD[do]": ("AUX", "did", "do"),
    "PRP[it]": ("PRON", "it", None),
    "PRP[you]": ("PRON", "you", None),
    "WP[who]": ("PRON", "who", None),
    "WP[what]": ("PRON", "what", None),
    "WDT[which]": ("PRON", "which", None),
    "WDT[that]": ("PRON", "that", None),
    "WRB": ("ADV", "where when why how", None),
    "RB[degree]": ("ADV", "very quite too", None),
    "RB[manner]": ("ADV", "slowly quickly gladly often silently badly again carefully", None),
    "RB[past]": ("ADV", "yesterday recently earlier formerly", None),
    "RB[pres]": ("ADV", "now today currently always", None),
}


@cache
def demo_grammar() -> FeatureGrammar:
    """The grammar behind the demo treebank, with its hidden features."""
    words = {symbol: lexicon.even(forms, upos, lemma) for symbol, (upos, forms, lemma) in _CLOSED.items()}
    for kind in lexicon.NOUNS:
        words |= {f"{tag}[{kind}]": entries for tag, entries in lexicon.nouns(kind).items()}
    for kind in lexicon.NAMES:
        words[f"NNP[{kind}]"] = lexicon.names(kind)
    for kind in lexicon.VERBS:
        words |= {f"{tag}[{kind}]": entries for tag, entries in lexicon.verbs(kind).items()}
    words |= {"JJ": lexicon.adjectives(), "CD": lexicon.numbers()}
    return FeatureGrammar.parse(GRAMMAR, VARIABLES, words, start="TOP", longest=40)


def draw_demo(size: int, seed: int = 0) -> Iterator[Draw]:
    """Stream sentences with their constituents, dependencies and hidden features."""
    check_number("sentences", size, MOST_SENTENCES)
    return islice(demo_grammar().draw(seed), size)


def demo_treebank(size: int, seed: int = 0) -> Treebank[Tree]:
    """Constituency trees with Penn labels.

    >>> bank = demo_treebank(100, seed=1)
    >>> len(bank), bank[0].label, demo_treebank(50, seed=1) == bank[:50]
    (100, 'TOP', True)
    """
    return Treebank.of(draw.tree for draw in draw_demo(size, seed))


def demo_dependencies(size: int, seed: int = 0) -> Treebank[DependencyTree]:
    """The same sentences as `demo_treebank` with the same seed, as dependency trees.

    >>> demo_dependencies(5, seed=1).sentences()[3].words == demo_treebank(5, seed=1)[3].words
    True
    """
    return Treebank.of(draw.dependencies for draw in draw_demo(size, seed))
