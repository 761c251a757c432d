"""From raw text to Universal Dependencies: segmentation, multiword tokens, lemmas, and all of it in one model."""
