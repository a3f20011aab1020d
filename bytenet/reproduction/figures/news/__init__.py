"""Trainings on news and other natural language."""
