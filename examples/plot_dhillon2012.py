"""
Dhillon et al. 2012: latent states in dependency trees, and a reranker
======================================================================

Every word of a dependency tree has a hidden state that depends on the state of its head. The model gives a tree a
probability, so it can rerank the trees that another parser proposes.
"""

import latentgram as lg

train, dev = lg.demo_dependencies(300, seed=0), lg.demo_dependencies(80, seed=1)
model = lg.fit(lg.LatentTree, train, by=lg.EM(states=4, iterations=10))
model

# %%
# Trees of the treebank are more probable than the same words with other heads.
tree = dev[0]
flat = tree.replace(heads=tuple(0 if head == 0 else tree.root for head in tree.heads))
print(f"log p(tree) {model.logprob(tree):.1f}, of a flat tree {model.logprob(flat):.1f}")

# %%
# A reranker combines this and other scores of the trees of a base parser.
reranker = lg.fit(lg.Reranker, train, by=lg.MIRA(order=1, count=5, folds=2, raters="templates,latent-tree"))
print(reranker.weights_by_name())

# %%
lg.Parser(reranker).evaluate(dev, gold_tags=True)
