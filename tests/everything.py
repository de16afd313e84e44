"""All that a server holds, as text: for tests that look for what must not be there."""

from tests.redis_server import RedisServer

READS = {
    "string": ("GET", ()),
    "list": ("LRANGE", ("0", "-1")),
    "zset": ("ZRANGE", ("0", "-1")),
    "stream": ("XRANGE", ("-", "+")),
}


def everything(server: RedisServer) -> str:
    """All keys with what they hold."""
    keys = server.say("KEYS", "*")
    assert isinstance(keys, list)
    found: list[str] = []
    for key in map(str, keys):
        verb, rest = READS[str(server.say("TYPE", key))]
        found.append(f"{key} {server.say(verb, key, *rest)!r}")
    return "\n".join(found)


def sealed(server: RedisServer) -> list[str]:
    """The keys of sealed values of runs."""
    keys = server.say("KEYS", "*}:y:*")
    assert isinstance(keys, list)
    return [str(key) for key in keys]
