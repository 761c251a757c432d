"""
Cohen et al. 2013: spectral learning beside EM
==============================================

The same grammar with hidden states, learned in four ways from the same trees.
"""

import latentgram as lg

train, dev = lg.demo_treebank(600, seed=0), lg.demo_treebank(100, seed=1)
learners = {
    "counting": lg.Counting(),
    "spectral": lg.Spectral(states=8),
    "clustering": lg.Clustering(states=8),
    "EM": lg.EM(states=4, iterations=10),
}
grammars = {name: lg.fit(lg.LPCFG, train, by=learner) for name, learner in learners.items()}
for name, grammar in grammars.items():
    score = lg.Parser(grammar).evaluate(dev)
    print(f"{name:10}  F1 {score.f1:5.1f}  learned in {grammar.provenance.seconds:5.1f} s")

# %%
# The likelihood rises in every round of EM.
next(iter(lg.learning_curves(grammars["EM"]).values()))

# %%
# `latentgram show` prints what the states of a symbol mean; the model itself displays its arrays.
grammars["clustering"]
