"""Audit of the promises of docs/reference/features.md against a running store and service.

Each check uses the product as its users do, with the packaged models, Chroma and the default
settings, says what it saw, and fails if that isn't what the page promises.
"""
