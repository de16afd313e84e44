"""What may be sent to Redis once more: to a server that will take it soon, and commands that only read.

Commits are the third kind; their own id makes that safe (`commit.lua`).
"""

PASSING = frozenset({"LOADING", "BUSY", "READONLY", "TRYAGAIN", "MASTERDOWN", "CLUSTERDOWN", "NOREPLICAS"})
"""States of a server that pass by themselves; a command refused with one of them was surely not executed."""

READS = frozenset(
    {
        "CLUSTER",
        "ECHO",
        "EXISTS",
        "GET",
        "INFO",
        "LINDEX",
        "LLEN",
        "LRANGE",
        "MGET",
        "PING",
        "TIME",
        "TYPE",
        "ZCARD",
        "ZRANGE",
        "ZSCORE",
    }
)
"""Commands that change nothing; of CLUSTER we only use what asks."""
