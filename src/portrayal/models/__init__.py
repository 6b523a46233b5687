"""Models that run on this machine: loaded from a folder or hub id, and nothing that they bring run.

A *local model* is weights as safetensors with a tokenizer and a config (through PyTorch and
transformers), or an exported ONNX file. Code that comes with a model is never run. Packages are
imported where they are needed, and one that is missing is an error that names the extra.
"""
