"""Asking models: a collection that loses nothing and pays for nothing twice."""
