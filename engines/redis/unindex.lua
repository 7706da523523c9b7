-- Takes cases out of one tenant's index.
-- KEYS: rows, by-score, by-updated, by-key, long
-- ARGV: the cases
for _, case in ipairs(ARGV) do
  local held = redis.call('HGET', KEYS[1], case)
  if held then
    redis.call('ZREM', KEYS[2], string.sub(held, 1, 16) .. case)
    redis.call('ZREM', KEYS[3], string.sub(held, 9, 16) .. case)
    redis.call('ZREM', KEYS[4], case)
    redis.call('ZREM', KEYS[5], case)
    redis.call('HDEL', KEYS[1], case)
  end
end
return 1
