"""Latent-variable PCFGs and their ensembles (Cohen et al. 2012, 2013)."""
