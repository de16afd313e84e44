#!lua
-- Take a question to show it. KEYS request, unshown, showing. ARGV id, worker. Returns its text, or nil if taken.
if redis.call("ZREM", KEYS[2], ARGV[1]) == 0 then
  return false
end
redis.call("HSET", KEYS[3], ARGV[1], ARGV[2])
return redis.call("GET", KEYS[1])
