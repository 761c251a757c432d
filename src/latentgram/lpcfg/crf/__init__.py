"""A conditional random field over the charts of latent-variable PCFGs."""
