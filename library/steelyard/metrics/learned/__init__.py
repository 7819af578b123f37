"""Metrics that are models: BERTScore and COMET, by an encoder of our own making."""
