"""HMMs, operator automata, back-off n-grams and the approximate corpus (Smith and Eisner 2012)."""
