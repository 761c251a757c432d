"""What latent-variable PCFGs are learned from: derivations, counts, features. Statistics add."""
