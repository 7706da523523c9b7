-- Writes or removes a note where it still is what was expected.
-- KEYS: notes, note-keys, answer
-- ARGV: key; 1 and the value expected, or 0 and nothing; 1 and the new value, or 0 and nothing; seconds to keep the answer
-- Answers 1 or 0. A repeat of the same call gets the same answer: it must not take its own write for another's.
local before = redis.call('GET', KEYS[3])
if before then return tonumber(before) end
local now = redis.call('HGET', KEYS[1], ARGV[1])
local as_expected = (ARGV[2] == '0' and not now) or (ARGV[2] == '1' and now == ARGV[3])
if not as_expected then return 0 end
if ARGV[4] == '1' then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[5])
  redis.call('ZADD', KEYS[2], 0, ARGV[1])
else
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
end
redis.call('SET', KEYS[3], 1, 'EX', ARGV[6])
return 1
