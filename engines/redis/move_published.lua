-- The mark of one case: how far its versions have reached `states`.
-- KEYS: head, places; and about where one server has all keys
-- ARGV: the mark expected, the new one; 4 values for the guard; then number and offset of each place
-- Answers 1 or 0 (moved or not; -1: the store is behind), the number of the head, and what is pruned.
if KEYS[3] and behind(KEYS[3], {ARGV[3], ARGV[4], ARGV[5], ARGV[6]}) then return {-1, '0', '0'} end
local now = redis.call('HMGET', KEYS[1], 'number', 'published', 'pruned')
if not now[1] or (now[2] or '0') ~= ARGV[1] then return {0, now[1] or '0', now[3] or '0'} end
redis.call('HSET', KEYS[1], 'published', ARGV[2])
for at = 7, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1]) end
return {1, now[1], now[3] or '0'}
