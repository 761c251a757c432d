"""
Cohen et al. 2012: learning from more trees, with a guarantee
=============================================================

Trees are sampled from random grammars with hidden states, and a grammar is learned from them by singular value
decompositions alone. The theorem says that the error of a tree's probability decreases like one over the square
root of the number of trees.
"""

import latentgram as lg
from latentgram.progress import Silent
from latentgram.reproduce.cohen2012 import reproduce

figures, page, plots = reproduce([500, 2000, 8000], [2], 2, Silent())
print("\n".join(page.splitlines()[:12]))

# %%
# The singular values of a symbol show how many states the trees support.
grammar = lg.fit(lg.LPCFG, lg.demo_treebank(800, seed=0), by=lg.Spectral(states=8))
lg.spectrum(grammar, "NP")
