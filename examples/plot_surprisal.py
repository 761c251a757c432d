"""
Surprisal
=========

How surprising is each word given the previous ones, and by how much does it reduce the uncertainty about the
rest? The prefix probabilities of a grammar with hidden states answer both questions, in bits.
"""

import latentgram as lg

grammar = lg.fit(lg.LPCFG, lg.demo_treebank(800, seed=0), by=lg.Clustering(states=4))
surprisal = lg.Surprisal.of(grammar)
sentence = "The doctors who sleep thanked the captain ."
reading = surprisal.read(sentence)
for word, bits in zip(reading.sentence.words, reading.surprisal, strict=True):
    print(f"{word:10} {bits:6.2f}")

# %%
# The same as a picture, next to a sentence whose third word does not fit the grammar.
odd = "The doctors the sleep thanked the captain ."
lg.Curves(
    {name: list(enumerate(surprisal.read(name).surprisal.tolist(), 1)) for name in (sentence, odd)},
    "surprisal",
    "word",
    "bits",
)
