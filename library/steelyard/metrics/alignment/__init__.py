"""Metrics that link words of the hypothesis with words of the reference: Meteor, GTM, F-measure, SemPOS, tBLEU."""
