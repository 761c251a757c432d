"""A tagger: tags with their probabilities from the forms of words."""
