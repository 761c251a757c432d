"""Bridges to nltk, scikit-learn and spaCy: the only foreign types."""
