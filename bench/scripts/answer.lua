#!lua
-- Answer a question, once. KEYS request, deadlines, showing, ready, feed. ARGV id, answer. Returns 1, or 0 if not open.
if redis.call("GETRANGE", KEYS[1], 0, 4) ~= "open " then
  return 0
end
redis.call("SET", KEYS[1], "answered " .. ARGV[2])
redis.call("ZREM", KEYS[2], ARGV[1])
redis.call("HDEL", KEYS[3], ARGV[1])
redis.call("ZADD", KEYS[4], 0, ARGV[1])
redis.call("XADD", KEYS[5], "MAXLEN", "~", 10000, "*", "h", "answered " .. ARGV[1])
return 1
