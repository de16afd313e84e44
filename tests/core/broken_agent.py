"""A module that fails when it is imported."""

x = 1 // 0
