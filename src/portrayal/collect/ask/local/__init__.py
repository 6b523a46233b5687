"""Local models: a provider that answers on this machine, through transformers."""
