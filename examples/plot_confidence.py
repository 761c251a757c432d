"""
A parse and how sure it is
==========================

A grammar with hidden states learns from generated trees; then we ask for a parse, for the alternatives, and for
the best parse that agrees with something we know.
"""

import latentgram as lg

train, dev, test = (lg.demo_treebank(size, seed=seed) for seed, size in enumerate((800, 200, 200)))
grammar = lg.fit(lg.LPCFG, train, by=lg.Spectral(states=8))
grammar

# %%
# Every node has its posterior: blue where the grammar is sure, orange where it is not.
parser = lg.Parser(grammar)
sentence = "The doctors thanked the captain of the village after the songs ."
parser.parse(sentence)

# %%
# What else could it be? The list has the probability of each tree.
parser.nbest(sentence, 3)

# %%
# We happen to know that the captain is one of a village after the songs. The best of all trees that obey is found
# exactly.
parser.parse(sentence, spans=[(3, 11, "NP")])

# %%
# Do the probabilities say how often they are right? Calibration on other trees makes them do so; the plot is on
# trees that neither the grammar nor the calibration has seen.
calibrated = lg.calibrate(parser, dev)
lg.reliability(calibrated, test)

# %%
# And the score.
calibrated.evaluate(test)
