"""Adapters: the same verbs over HTTP and MCP, and the page."""
