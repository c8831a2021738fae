"""Prediction: asks where an answer teaches most, and says how sure each label is."""

from samecluster.recovery.predict.plan import Predict

__all__ = ["Predict"]
