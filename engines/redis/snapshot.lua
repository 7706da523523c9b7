-- The newest snapshot at or below a number.
-- KEYS: snapshots, snapshotted
-- ARGV: the number
-- Answers its number and body, or nothing.
local found = redis.call('ZREVRANGEBYSCORE', KEYS[2], ARGV[1], '-inf', 'LIMIT', 0, 1)
if not found[1] then return {} end
return {found[1], redis.call('HGET', KEYS[1], found[1])}
