"""What happens to memories later."""
