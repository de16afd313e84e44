#!lua
-- Take the turn that an answer starts, once. KEYS request, ready. ARGV id, ttl_ms. Returns the answer, or nil if taken.
if redis.call("ZREM", KEYS[2], ARGV[1]) == 0 then
  return false
end
local request = redis.call("GET", KEYS[1])
redis.call("SET", KEYS[1], "taken", "PX", ARGV[2])
return request
