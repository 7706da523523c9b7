-- Values whose names lie in a range, by name.
-- KEYS: a zset of names, a hash of values
-- ARGV: where to begin and to end (as ZRANGE BYLEX has it), how many
-- Answers name and value of each.
local found = {}
for _, name in ipairs(redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'BYLEX', 'LIMIT', 0, ARGV[3])) do
  found[#found + 1] = name
  found[#found + 1] = redis.call('HGET', KEYS[2], name)
end
return found
