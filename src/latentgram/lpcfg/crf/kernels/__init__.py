"""Features, marginals and learning of a conditional random field over packed charts."""
