"""
Smith and Eisner 2012: a tagger from n-gram counts alone
========================================================

Suppose that n-gram counts are available, but the text is not. Variational EM learns a hidden Markov model from the
counts, here with a dictionary of the possible tags of each word.
"""

import latentgram as lg

bank = lg.demo_treebank(600, seed=0)
text = lg.Text.of(bank.sentences())
tags = lg.TagDictionary.of(bank.sentences())
counts = lg.NGramCounts.of(text, order=3)
automaton = lg.fit(lg.BackoffNGram, counts, by=lg.Counting())
print(automaton.summary())

# %%
# EM on the text itself, for comparison, and variational EM on the n-grams.
on_text = lg.fit(lg.HMM, text, by=lg.EM(dictionary=tags, iterations=15))
on_counts = lg.fit(lg.HMM, automaton, by=lg.Variational(dictionary=tags, iterations=15))
on_counts

# %%
# The tagging accuracy on new sentences.
test = lg.demo_treebank(100, seed=1).sentences()
for name, hmm in (("text", on_text), ("n-grams", on_counts)):
    right = [tagging.tags for tagging in hmm.tag_all([sentence.without_tags() for sentence in test])]
    print(f"{name:8} {lg.score_tags([sentence.tags for sentence in test], right)}")
