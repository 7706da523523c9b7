-- A page of one tenant's index.
-- KEYS: an order of it, rows
-- ARGV: where to begin (as ZRANGE BYLEX has it), how many, and how many bytes stand before the case in that order
-- Answers case and row of each.
local found = {}
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], ARGV[1], '+', 'BYLEX', 'LIMIT', 0, ARGV[2])) do
  local case = string.sub(member, tonumber(ARGV[3]) + 1)
  found[#found + 1] = case
  found[#found + 1] = redis.call('HGET', KEYS[2], case)
end
return found
