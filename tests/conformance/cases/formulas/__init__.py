"""The operators' definitions as formulas, and cases of them: a file a family."""
