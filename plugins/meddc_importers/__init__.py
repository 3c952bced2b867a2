"""Importers of histories and cases that others made: AI Hospital's and this program's own."""
