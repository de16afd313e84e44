#!lua
-- The one script: guards and a clock interval first, then every write of one commit, or none of them.
-- It knows no rule and no key name. Loaded twice: as it is, and with `flags=allow-oom` in the first line.
--
-- A document is a string   "<v> <fence> <halt> <json>"; v is the 16-character id of the commit that last wrote it.
-- A list entry is a string "<seq> <id> <json>"; seq is dense per list and starts at 1, id is the commit's id.
--
-- KEYS  every key that is used; guards and operations name them by their index. A key may be repeated.
-- ARGV  [1] commit id   [2] from_ms, "0" = no limit   [3] until_ms, "0" = no limit
--       [4] own commit: "doc" (the first guard's document carries the id), "list" (the last 8 entries of the list
--           KEYS[ARGV[5]] are searched for it), "seek" (the last 256 are), "none"      [5] key index or "0"
--       [6] number of guards, then for each: kind, key index, value
--           at v         the document has this v                      else STALE    missing: GONE
--           fence f      the document has this fence                  else FENCED   missing: GONE
--           begin f:h    fence and halt are these                     else FENCED, HALTED   missing: GONE
--           length n     the list's last seq is n (0: no list)        else STALE
--           absent       there is no such key                         else STALE
--           exists       there is such a key                          else GONE
--       then the number of operations, then for each: verb, key index, number of arguments, arguments
--           put fence halt json ttl_ms    value text ttl_ms    drop    expire ttl_ms
--           append json cap ttl_ms        trim keep ttl_ms     (lists; cap 0: no cap)
--           zadd score member             zrem member          zrem_at member score (only with this score)
--           feed maxlen text
--       ttl_ms: "0" takes a life time away; for append and trim "-1" leaves it as it is.
--       Conditions (seq, zrem_at) look at what was there before the call.
--
-- Returns { word, now_ms, seqs given by append in order, 0-based index of the guard that failed (only then) }.
--       OK  STALE  FENCED  HALTED  GONE  EARLY  LATE   (now_ms: the server's clock)
--       In this order: own commit (OK), clock interval, guards, operations.
-- A malformed call raises MALFORMED before anything is written.
--
-- luacheck: std lua51, read globals redis KEYS ARGV, max line length 120

local call = redis.call
local id = ARGV[1]
local cursor = 5 -- the last argument that was read
local heads = {} -- document key -> its first bytes
local last = {} -- list key -> seq of its last entry
local seqs = {} -- given to appends, in order
local plan = {} -- Redis commands to run once all is known to be well formed

local function malformed(why)
  error(redis.error_reply("MALFORMED " .. why))
end

local function take()
  cursor = cursor + 1
  local argument = ARGV[cursor]
  if argument == nil then
    malformed("the arguments end too early")
  end
  return argument
end

local function whole(text, least)
  local number = text and string.match(text, "^%-?%d+$") and tonumber(text)
  if not number or number < least or number > 1e15 then
    malformed("not a whole number in its range: " .. tostring(text))
  end
  return number
end

local function key_at(text)
  local name = KEYS[whole(text, 1)]
  if name == nil then
    malformed("no key with the index " .. text)
  end
  return name
end

local function later(...)
  plan[#plan + 1] = { ... }
end

local function document(name)
  local head = heads[name]
  if head == nil then
    head = call("GETRANGE", name, 0, 47)
    heads[name] = head
  end
  if head == "" then
    return nil
  end
  local v, fence, halt = string.match(head, "^(%S+) (%d+) (%d+) ")
  if v == nil then
    malformed("not a document: " .. name)
  end
  return v, fence, halt
end

local function last_seq(name)
  local seq = last[name]
  if seq == nil then
    local entry = call("LINDEX", name, -1)
    seq = entry and tonumber(string.match(entry, "^(%d+) ")) or 0
    last[name] = seq
  end
  return seq
end

local function lifetime(name, ttl)
  if ttl > 0 then
    later("PEXPIRE", name, ttl)
  elseif ttl == 0 then
    later("PERSIST", name)
  end
end

local function store(name, text, ttl)
  if ttl > 0 then
    later("SET", name, text, "PX", ttl)
  else
    later("SET", name, text)
  end
end

-- Each guard returns the word of its failure, or nothing.
local guards = {
  at = function(name, v)
    local found = document(name)
    return not found and "GONE" or found ~= v and "STALE" or nil
  end,
  fence = function(name, fence)
    local v, found = document(name)
    return not v and "GONE" or found ~= fence and "FENCED" or nil
  end,
  begin = function(name, value)
    local v, fence, halt = document(name)
    local want_fence, want_halt = string.match(value, "^(%d+):(%d+)$")
    if want_fence == nil then
      malformed("begin wants fence:halt")
    end
    return not v and "GONE" or fence ~= want_fence and "FENCED" or halt ~= want_halt and "HALTED" or nil
  end,
  length = function(name, seq)
    return last_seq(name) ~= whole(seq, 0) and "STALE" or nil
  end,
  absent = function(name)
    return call("EXISTS", name) == 1 and "STALE" or nil
  end,
  exists = function(name)
    return call("EXISTS", name) == 0 and "GONE" or nil
  end,
}

-- Each verb reads its arguments and plans its commands.
local verbs = {
  put = function(name)
    local fence, halt = whole(take(), 0), whole(take(), 0)
    store(name, id .. string.format(" %d %d ", fence, halt) .. take(), whole(take(), 0))
  end,
  value = function(name)
    store(name, take(), whole(take(), 0))
  end,
  drop = function(name)
    last[name] = 0
    later("UNLINK", name)
  end,
  expire = function(name)
    lifetime(name, whole(take(), 0))
  end,
  append = function(name)
    local json, cap, ttl = take(), whole(take(), 0), whole(take(), -1)
    local seq = last_seq(name) + 1
    last[name] = seq
    seqs[#seqs + 1] = seq
    later("RPUSH", name, string.format("%d ", seq) .. id .. " " .. json)
    if cap > 0 then
      later("LTRIM", name, -cap, -1)
    end
    lifetime(name, ttl)
  end,
  trim = function(name)
    later("LTRIM", name, -whole(take(), 1), -1)
    lifetime(name, whole(take(), -1))
  end,
  zadd = function(name)
    local score = tonumber(take())
    if score == nil or score ~= score then
      malformed("zadd wants a number as its score")
    end
    later("ZADD", name, string.format("%.17g", score), take())
  end,
  zrem = function(name)
    later("ZREM", name, take())
  end,
  zrem_at = function(name)
    local member, score = take(), tonumber(take())
    local found = call("ZSCORE", name, member)
    if score == nil then
      malformed("zrem_at wants a number as its score")
    elseif found and tonumber(found) == score then
      later("ZREM", name, member)
    end
  end,
  feed = function(name)
    local maxlen = whole(take(), 1)
    later("XADD", name, "MAXLEN", "~", maxlen, "*", "h", take())
  end,
}

local function own_commit()
  local mode = ARGV[4]
  if mode == "none" then
    return false
  elseif mode == "doc" then
    whole(ARGV[6], 1)
    return document(key_at(ARGV[8])) == id
  elseif mode ~= "list" and mode ~= "seek" then
    malformed("no such way to know the own commit: " .. tostring(mode))
  end
  local tail = call("LRANGE", key_at(ARGV[5]), mode == "list" and -8 or -256, -1)
  for _, entry in ipairs(tail) do
    local seq, author = string.match(entry, "^(%d+) (%S+) ")
    if author == id then
      seqs[#seqs + 1] = tonumber(seq)
    end
  end
  return #seqs > 0
end

local function check_guards()
  for position = 0, whole(take(), 0) - 1 do
    local guard = guards[take()]
    if guard == nil then
      malformed("no such guard: " .. ARGV[cursor])
    end
    local failure = guard(key_at(take()), take())
    if failure then
      return failure, position
    end
  end
end

local function plan_operations()
  for _ = 1, whole(take(), 0) do
    local verb = verbs[take()]
    if verb == nil then
      malformed("no such verb: " .. ARGV[cursor])
    end
    local name, count = key_at(take()), whole(take(), 0)
    local stop = cursor + count
    verb(name)
    if cursor ~= stop then
      malformed("wrong number of arguments, " .. count)
    end
  end
  if cursor ~= #ARGV then
    malformed("arguments are left over")
  end
end

if id == nil or not string.match(id, "^%S+$") or #id ~= 16 then
  malformed("a commit id has 16 characters")
end
local from_ms, until_ms = whole(ARGV[2], 0), whole(ARGV[3], 0)
local clock = call("TIME")
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

if own_commit() then
  return { "OK", now, seqs }
elseif from_ms > 0 and now < from_ms then
  return { "EARLY", now, seqs }
elseif until_ms > 0 and now > until_ms then
  return { "LATE", now, seqs }
end

local word, index = check_guards()
if word then
  return { word, now, seqs, index }
end

plan_operations()
for _, command in ipairs(plan) do
  call(unpack(command))
end
return { "OK", now, seqs }
