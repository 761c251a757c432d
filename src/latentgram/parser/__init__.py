"""Parser: a model with its decoder, pruner and tagger."""
