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
--           chain json head_index         cut seq              (a list of entries "<seq> <id> <sha1> <json>", with
--               the sha1 of the whole entry before; KEYS[head_index] is "<seq> <sha1>" of the last)
--           zadd score member             zrem member          zrem_at member score (only with this score)
--           feed maxlen text
--       ttl_ms: "0" takes a life time away; for append and trim "-1" leaves it as it is.
--           feed keeps about maxlen entries and adds one with the field h = text. They run in this order.
--
-- Returns { word, now_ms, seqs given by append in order, 0-based index of the guard that failed (only then) }.
--       OK  STALE  FENCED  HALTED  GONE  EARLY  LATE   (now_ms: the server's clock)
--       In this order: own commit (OK), clock interval, guards, operations.
-- A malformed call raises MALFORMED before anything is written. To add a verb: a branch in `well_formed` and in `run`;
-- branches, since tables of functions would be built anew by every call, which costs as much as four writes.
--
-- luacheck: std lua51, read globals redis KEYS ARGV, max line length 120

local call, find, match = redis.call, string.find, string.match
local id = ARGV[1]
local cursor = 6 -- the last argument that was read
local seqs = {} -- given to appends, in order
local last = {} -- list key -> seq of its last entry, as far as it is known
local heads = {} -- document key -> its beginning as it was before this commit, as far as it was read

local function malformed(why)
  error(redis.error_reply("MALFORMED " .. why))
end

-- Numbers go on to Redis as the texts they came as: formatting one again costs as much as a small write.
local function is_whole(text, least)
  if text == "0" then
    return least <= 0
  elseif text == "-1" then
    return least <= -1
  end
  return text and #text < 16 and find(text, "^[1-9]%d*$") ~= nil
end

local function document(name)
  local head = heads[name] or call("GETRANGE", name, "0", "47")
  heads[name] = head
  if head == "" then
    return nil
  end
  local v, fence, halt = match(head, "^(%S+) (%d+) (%d+) ")
  if v == nil then
    malformed("not a document: " .. name)
  end
  return v, fence, halt
end

local function last_seq(name)
  local seq = last[name]
  if seq == nil then
    local entry = call("LINDEX", name, "-1")
    seq = entry and tonumber(match(entry, "^(%d+) ")) or 0
    last[name] = seq
  end
  return seq
end

-- Returns the word of a guard's failure, or nil.
local function failure(kind, name, value)
  if kind == "at" then
    local v = document(name)
    return not v and "GONE" or v ~= value and "STALE" or nil
  elseif kind == "fence" then
    local v, fence = document(name)
    return not v and "GONE" or fence ~= value and "FENCED" or nil
  elseif kind == "begin" then
    local v, fence, halt = document(name)
    local want_fence, want_halt = match(value, "^(%d+):(%d+)$")
    if want_fence == nil then
      malformed("begin wants fence:halt")
    end
    return not v and "GONE" or fence ~= want_fence and "FENCED" or halt ~= want_halt and "HALTED" or nil
  elseif kind == "length" then
    return last_seq(name) ~= tonumber(value) and "STALE" or nil
  elseif kind == "absent" then
    return call("EXISTS", name) == 1 and "STALE" or nil
  elseif kind == "exists" then
    return call("EXISTS", name) == 0 and "GONE" or nil
  end
  malformed("no such guard: " .. kind)
end

-- Whether a verb has its arguments, which begin at ARGV[at].
local function well_formed(verb, name, count, at)
  local one, two, three = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  if verb == "put" then
    return count == 4 and is_whole(one, 0) and is_whole(two, 0) and is_whole(ARGV[at + 3], 0)
  elseif verb == "append" then
    return count == 3 and is_whole(two, 0) and is_whole(three, -1) and last_seq(name)
  elseif verb == "feed" then
    return count == 2 and is_whole(one, 1)
  elseif verb == "zadd" then
    return count == 2 and tonumber(one) and not find(one, "[^%d.eE+-]")
  elseif verb == "chain" then
    return count == 2 and is_whole(two, 1) and KEYS[tonumber(two)]
  elseif verb == "zrem" then
    return count == 1
  elseif verb == "zrem_at" then
    return count == 2 and tonumber(two)
  elseif verb == "value" then
    return count == 2 and is_whole(two, 0)
  elseif verb == "trim" then
    return count == 2 and is_whole(one, 1) and is_whole(two, -1)
  elseif verb == "expire" or verb == "cut" then
    return count == 1 and is_whole(one, 0)
  end
  return verb == "drop" and count == 0
end

local function store(name, text, ttl)
  if ttl == "0" then
    call("SET", name, text)
  else
    call("SET", name, text, "PX", ttl)
  end
end

local function live(name, ttl)
  if ttl == "0" then
    call("PERSIST", name)
  elseif ttl ~= "-1" then
    call("PEXPIRE", name, ttl)
  end
end

local function append(name, json, cap, ttl)
  local seq = last_seq(name) + 1
  last[name] = seq
  seqs[#seqs + 1] = seq
  local length = call("RPUSH", name, string.format("%d ", seq) .. id .. " " .. json)
  if cap ~= "0" and length > tonumber(cap) then
    call("LTRIM", name, "-" .. cap, "-1")
  end
  live(name, ttl)
end

-- An entry that was changed, or is missing, does not agree with the one behind it, or with the head.
local function chain(name, json, head)
  local seq, hash = match(call("GET", head) or "0 -", "^(%d+) (%S+)$")
  if seq == nil then
    malformed("not the head of a chain: " .. head)
  end
  seq = string.format("%d ", seq + 1)
  local entry = seq .. id .. " " .. hash .. " " .. json
  call("RPUSH", name, entry)
  call("SET", head, seq .. redis.sha1hex(entry))
end

local function cut(name, seq)
  local entry = call("LINDEX", name, "0")
  local first = entry and tonumber(match(entry, "^(%d+) "))
  if first and first <= tonumber(seq) then
    call("LTRIM", name, string.format("%d", seq - first + 1), "-1")
  end
end

-- Carries out a verb whose arguments begin at ARGV[at] and are well formed.
local function run(verb, name, at)
  local one, two = ARGV[at], ARGV[at + 1]
  if verb == "put" then
    store(name, id .. " " .. one .. " " .. two .. " " .. ARGV[at + 2], ARGV[at + 3])
  elseif verb == "append" then
    append(name, one, two, ARGV[at + 2])
  elseif verb == "feed" then
    call("XADD", name, "MAXLEN", "~", one, "*", "h", two)
  elseif verb == "zadd" then
    call("ZADD", name, one, two)
  elseif verb == "chain" then
    chain(name, one, KEYS[tonumber(two)])
  elseif verb == "cut" then
    cut(name, one)
  elseif verb == "zrem" then
    call("ZREM", name, one)
  elseif verb == "zrem_at" then
    local score = call("ZSCORE", name, one)
    if score and tonumber(score) == tonumber(two) then
      call("ZREM", name, one)
    end
  elseif verb == "value" then
    store(name, one, two)
  elseif verb == "drop" then
    last[name] = 0
    call("UNLINK", name)
  elseif verb == "trim" then
    call("LTRIM", name, "-" .. one, "-1")
    live(name, two)
  elseif verb == "expire" then
    live(name, one)
  end
end

local function key_at(text)
  local name = KEYS[tonumber(text)]
  if name == nil then
    malformed("no key with the index " .. tostring(text))
  end
  return name
end

local function own_commit()
  local mode = ARGV[4]
  if mode == "none" then
    return false
  elseif mode == "doc" and is_whole(ARGV[6], 1) then
    return document(key_at(ARGV[8])) == id
  elseif mode ~= "list" and mode ~= "seek" then
    malformed("no such way to know the own commit: " .. mode)
  end
  for _, entry in ipairs(call("LRANGE", key_at(ARGV[5]), mode == "list" and "-8" or "-256", "-1")) do
    local seq, author = match(entry, "^(%d+) (%S+) ")
    if author == id then
      seqs[#seqs + 1] = tonumber(seq)
    end
  end
  return #seqs > 0
end

local function failing_guard()
  for position = 0, ARGV[6] - 1 do
    local kind, name, value = ARGV[cursor + 1], key_at(ARGV[cursor + 2]), ARGV[cursor + 3]
    cursor = cursor + 3
    local word = failure(kind, name, value)
    if word then
      return word, position
    end
  end
end

-- Sees that all operations are well formed, before the first of them is carried out.
local function operations(count)
  local names, starts = {}, {}
  local at = cursor + 2 -- a verb
  for position = 1, count do
    local verb, name, arguments = ARGV[at], key_at(ARGV[at + 1]), tonumber(ARGV[at + 2])
    if not arguments or not well_formed(verb, name, arguments, at + 3) then
      malformed("operation " .. position .. " (" .. verb .. ")")
    end
    names[position], starts[position] = name, at
    at = at + 3 + arguments
  end
  if at - 1 ~= #ARGV then
    malformed("the arguments are not as many as they say")
  end
  return names, starts
end

if #ARGV < 7 or #id ~= 16 or find(id, "%s") then
  malformed("a call begins with a commit id of 16 characters and has at least seven arguments")
end
local from_ms, until_ms = tonumber(ARGV[2]), tonumber(ARGV[3])
if not (from_ms and until_ms and is_whole(ARGV[6], 0)) then
  malformed("the interval and the number of guards are numbers")
end
local clock = call("TIME")
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

if own_commit() then
  return { "OK", now, seqs }
elseif from_ms > 0 and now < from_ms then
  return { "EARLY", now, seqs }
elseif until_ms > 0 and now > until_ms then
  return { "LATE", now, seqs }
end

local word, position = failing_guard()
if word then
  return { word, now, seqs, position }
end

local count = ARGV[cursor + 1]
if not is_whole(count, 0) then
  malformed("the number of operations is a number")
end
local names, starts = operations(count)
for which, at in ipairs(starts) do
  run(ARGV[at], names[which], at + 3)
end
return { "OK", now, seqs }
