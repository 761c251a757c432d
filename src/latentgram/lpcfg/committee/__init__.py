"""Several discriminative layers that parse together."""
