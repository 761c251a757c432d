"""Symbols, sentences, trees and treebanks; nothing here involves probabilities."""
