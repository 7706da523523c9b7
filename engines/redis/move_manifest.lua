-- Moves a manifest where its generation and offset still are those expected.
-- KEYS: manifests, owners, answer
-- ARGV: owner; what it is expected to begin with ("generation offset ", or empty: there is none); the new one; seconds
--       to keep the answer
-- Answers 1 or 0. A repeat of the same call gets the same answer: it must not take its own move for another's.
local before = redis.call('GET', KEYS[3])
if before then return tonumber(before) end
local now = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[2] == '' then
  if now then return 0 end
elseif not now or string.sub(now, 1, #ARGV[2]) ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('ZADD', KEYS[2], 0, ARGV[1])
redis.call('SET', KEYS[3], 1, 'EX', ARGV[4])
return 1
