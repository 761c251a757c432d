"""
Surprisal
=========

How much does each word surprise, given those before it, and by how much does it lower the uncertainty about the
rest? The prefix probabilities of a grammar with hidden states tell, in bits.
"""

import latentgram as lg

grammar = lg.fit(lg.LPCFG, lg.demo_treebank(800, seed=0), by=lg.Clustering(states=4))
surprisal = lg.Surprisal.of(grammar)
sentence = "The doctors who sleep thanked the captain ."
reading = surprisal.read(sentence)
for word, bits in zip(reading.sentence.words, reading.surprisal, strict=True):
    print(f"{word:10} {bits:6.2f}")

# %%
# The same as a picture, beside a sentence that does not fit the grammar at its third word.
odd = "The doctors the sleep thanked the captain ."
lg.Curves(
    {name: list(enumerate(surprisal.read(name).surprisal.tolist(), 1)) for name in (sentence, odd)},
    "surprisal",
    "word",
    "bits",
)
