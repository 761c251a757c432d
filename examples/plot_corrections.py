"""
Correcting annotation errors
============================

Some labels of a treebank are wrong. Which trees should an annotator look at first? Each fifth of the treebank is
scored by a grammar that was learned from the other four.
"""

import numpy as np

import latentgram as lg

trees = list(lg.demo_treebank(300, seed=0))
random = np.random.default_rng(0)
wrong = sorted(random.choice(len(trees), 10, replace=False).tolist())
for number in wrong:
    trees[number] = lg.parse_tree(str(trees[number]).replace("(VP ", "(PP ", 1))

# %%
# The ten most doubtful trees, by log p(tree | sentence) per word, and the most doubtful part of each.
parser = lg.Parser(lg.fit(lg.LPCFG, lg.Treebank.of(trees), by=lg.Clustering(states=4)))
suspects = lg.find_suspects(parser, trees, 10, folds=5)
for suspect in suspects:
    print(f"{suspect.number:4}  {suspect.per_word:6.2f}  {suspect.part}")

# %%
# How many of the corrupted trees are among them?
found = {suspect.number - 1 for suspect in suspects} & set(wrong)
print(f"{len(found)} of {len(wrong)}")

# %%
# One of these trees.
trees[suspects[0].number - 1]
