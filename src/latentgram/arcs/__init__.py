"""Arc-factored parsers, the reranker and the top-down model (Dhillon et al. 2012, section 5)."""
