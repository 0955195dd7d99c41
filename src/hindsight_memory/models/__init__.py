"""Things that compute, behind protocols: embedders, rerankers and language models."""
