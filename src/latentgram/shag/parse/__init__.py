"""From a sentence to heads: inside and outside, the tree of least risk, lists and draws."""
