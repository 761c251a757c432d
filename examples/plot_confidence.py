"""
A parse and its confidence
==========================

We learn a grammar with hidden states from generated trees; then we ask for a parse, for the alternatives, and for
the best parse that satisfies a constraint.
"""

import latentgram as lg

train, dev, test = (lg.demo_treebank(size, seed=seed) for seed, size in enumerate((800, 200, 200)))
grammar = lg.fit(lg.LPCFG, train, by=lg.Spectral(states=8))
grammar

# %%
# Every node has its posterior: blue where the grammar is confident, orange where it is not.
parser = lg.Parser(grammar)
sentence = "The doctors thanked the captain of the village after the songs ."
parser.parse(sentence)

# %%
# The n-best list has the alternatives with the probability of each tree.
parser.nbest(sentence, 3)

# %%
# Suppose we know that everything from "the captain" to "the songs" is one noun phrase. The best of all trees that
# satisfy this constraint is found exactly.
parser.parse(sentence, spans=[(3, 11, "NP")])

# %%
# Do the probabilities tell how often the parser is right? After calibration on other trees they do; the plot uses
# trees that neither the grammar nor the calibration has seen.
calibrated = lg.calibrate(parser, dev)
lg.reliability(calibrated, test)

# %%
# The score of the parser.
calibrated.evaluate(test)
