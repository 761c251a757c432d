"""
Luque et al. 2012: head automata by spectral learning
=====================================================

The modifiers of a head, on either side, are a sequence that an automaton with hidden states writes. One singular
value decomposition per head learns it.
"""

import latentgram as lg

train, dev = lg.demo_dependencies(600, seed=0), lg.demo_dependencies(150, seed=1)
grammar = lg.fit(lg.SHAG, train, by=lg.Spectral(states=6))
lg.spectrum(grammar, "NN", "left")

# %%
# How many states are worth having? Unlabelled attachment on other trees, beside counting with no hidden states.
scores = {}
for states in (1, 2, 4, 8):
    model = lg.fit(lg.SHAG, train, by=lg.Spectral(states=states))
    scores[states] = lg.Parser(model).evaluate(dev, gold_tags=True).uas
counting = lg.Parser(lg.fit(lg.SHAG, train, by=lg.Counting())).evaluate(dev, gold_tags=True).uas
lg.Curves({"spectral": list(scores.items()), "counting": [(1, counting)]}, "head automata", "states", "UAS")

# %%
# The automaton of the left modifiers of nouns, made deterministic.
print(grammar["NN", lg.LEFT].to_dfa(clusters=4))

# %%
# A parse.
lg.Parser(grammar).parse(dev[3].sentence)
