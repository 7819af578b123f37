"""Quotas: how many submissions teams may make, and how many they have made."""
