"""
Surprisal
=========

How much does each word surprise, given those before it? The prefix probabilities of a grammar tell, in bits.
"""

import latentgram as lg
from latentgram.lpcfg.surprisal import Surprisal

grammar = lg.fit(lg.LPCFG, lg.demo_treebank(800, seed=0), by=lg.Counting())
surprisal = Surprisal.of(grammar)
sentence = "The doctors who sleep thanked the captain ."
bits = surprisal(sentence).tolist()
for word, value in zip(sentence.split(), bits, strict=True):
    print(f"{word:10} {value:6.2f}")

# %%
# The same as a picture, beside a sentence that does not fit the grammar at its third word.
odd = "The doctors the sleep thanked the captain ."
lg.Curves(
    {name: list(enumerate(surprisal(name).tolist(), 1)) for name in (sentence, odd)},
    "surprisal",
    "word",
    "bits",
)
