#!lua
-- Park a question. KEYS request, deadlines, unshown, feed. ARGV id, text, deadline_ms. Returns 1, or 0 if it is there.
if not redis.call("SET", KEYS[1], "open " .. ARGV[2], "NX") then
  return 0
end
redis.call("ZADD", KEYS[2], ARGV[3], ARGV[1])
redis.call("ZADD", KEYS[3], ARGV[3], ARGV[1])
redis.call("XADD", KEYS[4], "MAXLEN", "~", 10000, "*", "h", "ask " .. ARGV[1])
return 1
