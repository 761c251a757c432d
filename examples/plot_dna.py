"""
A hidden Markov model of DNA
============================

This example is not about language: a sequence of bases has stretches, called islands, that are rich in C and G.
The states are hidden, and a model learned from the sequence alone recovers them.
"""

import numpy as np

import latentgram as lg

STAY = {"island": 0.97, "sea": 0.99}
EMITS = {"island": (0.1, 0.4, 0.4, 0.1), "sea": (0.3, 0.2, 0.2, 0.3)}


def drawn(length, random):
    state, sequence = "sea", []
    for _ in range(length):
        sequence.append(("ACGT"[random.choice(4, p=EMITS[state])], state))
        if random.random() > STAY[state]:
            state = "sea" if state == "island" else "island"
    return sequence


random = np.random.default_rng(1)
sequences = [drawn(300, random) for _ in range(30)]
letters = [[letter for letter, _ in sequence] for sequence in sequences]
hmm = lg.fit(lg.HMM, letters, by=lg.EM(states=2, iterations=40, start="spectral"))
hmm

# %%
# Where does the model see an island in a new sequence?
test = drawn(300, random)
posteriors = hmm.tag_posteriors([letter for letter, _ in test])
truth = np.array([state == "island" for _, state in test], float)
rich = int(np.argmax(posteriors.T @ truth / posteriors.sum(0)))
lg.Curves(
    {"truth": list(enumerate(truth.tolist())), "p(island)": list(enumerate(posteriors[:, rich].tolist()))},
    "islands in a new sequence",
    "letter",
    "probability",
)

# %%
# The possible next symbols, and the probability of a sequence.
print(hmm.next_words(["C", "G", "C"]))
print(hmm.logprob(["C", "G", "C", "G"]))
