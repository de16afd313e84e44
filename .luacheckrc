-- The dialect of the scripts in core/: Lua 5.1 inside Redis or Valkey, locals only.
std = "lua51"
read_globals = { "redis", "cjson", "cmsgpack", "bit", "struct", "KEYS", "ARGV" }
allow_defined = false
max_line_length = 120
