"""Split head-automata grammars, lexical ones and products (Luque et al. 2012)."""
