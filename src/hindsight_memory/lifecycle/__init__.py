"""What happens to memories later: they fade, are put away, merged, let go of and purged."""
