"""Things that compute, behind protocols: embedders, and later rerankers and language models."""
