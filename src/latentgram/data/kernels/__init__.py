"""Loops over the nodes of forests and the bytes of treebank files: stateless, compiled, arrays in, arrays out."""
