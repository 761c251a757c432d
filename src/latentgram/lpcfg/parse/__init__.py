"""From a sentence to trees: a cascade of grammars, decoders, constraints."""
