"""Environments: where a policy acts."""
