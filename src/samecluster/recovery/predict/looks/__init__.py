"""Prediction by looks: which screen to show next, and what its reply teaches."""
