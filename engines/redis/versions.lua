-- The versions of a case in a range, as far as they are kept.
-- KEYS: head, versions
-- ARGV: first and last number
-- Answers number and record of each, by number.
local now = redis.call('HMGET', KEYS[1], 'number', 'pruned')
local first = math.max(tonumber(ARGV[1]), tonumber(now[2] or '0') + 1)
local last = math.min(tonumber(ARGV[2]), tonumber(now[1] or '0'))
local found = {}
for number = first, last do
  local name = string.format('%.0f', number)
  local record = redis.call('HGET', KEYS[2], name)
  if record then
    found[#found + 1] = name
    found[#found + 1] = record
  end
end
return found
