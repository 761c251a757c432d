"""Bridges to NLTK, scikit-learn and spaCy: the only modules that use types of these libraries."""
