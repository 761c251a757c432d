"""Latent dependency trees and word vectors (Dhillon et al. 2012)."""
