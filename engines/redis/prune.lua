-- Lets go of the versions of a case after one number up to another.
-- KEYS: head, versions, brought, remains, snapshots, snapshotted, places, answer
-- ARGV: 1 pruned so far, as expected; 2 the new number; 3 seconds to keep the answer; 4-7 how many there are of: what
--       stays, what is new of it, snapshots that go, places; then the ids that stay; id and body of the new ones; the
--       numbers of the snapshots; number and offset of the places
-- Answers {1, versions left before the head that are published}, {0} where another was first, {-1} where something
-- that is to stay is not there, {-2, mark, head} where it would lose something.
local before = redis.call('GET', KEYS[8])
if before then return {1, tonumber(before)} end
local now = redis.call('HMGET', KEYS[1], 'number', 'published', 'pruned')
if not now[1] or (now[3] or '0') ~= ARGV[1] then return {0} end
local old, new, mark = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(now[2] or '0')
if new <= old or new > mark or new >= tonumber(now[1]) or not redis.call('ZSCORE', KEYS[6], ARGV[2]) then
  return {-2, mark, tonumber(now[1])}
end
local stays, fresh, going, placed = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local at, keep, has = 8, {}, {}
for place = at, at + stays - 1 do keep[ARGV[place]] = true end
at = at + stays
local fresh_at = at
for place = at, at + 2 * fresh - 1, 2 do has[ARGV[place]] = true end
at = at + 2 * fresh
for id in pairs(keep) do
  if not has[id] and redis.call('HEXISTS', KEYS[4], id) == 0 then return {-1} end
end
for _, id in ipairs(redis.call('HKEYS', KEYS[4])) do
  if not keep[id] then
    redis.call('HINCRBY', KEYS[1], 'remains-bytes', 1 - redis.call('HSTRLEN', KEYS[4], id))
    redis.call('HINCRBY', KEYS[1], 'remains', -1)
    redis.call('HDEL', KEYS[4], id)
  end
end
for place = fresh_at, fresh_at + 2 * fresh - 1, 2 do
  if redis.call('HSETNX', KEYS[4], ARGV[place], ARGV[place + 1]) == 1 then
    redis.call('HINCRBY', KEYS[1], 'remains', 1)
    redis.call('HINCRBY', KEYS[1], 'remains-bytes', #ARGV[place + 1] - 1)
  end
end
local freed = 0
for number = old + 1, new do
  local name = string.format('%.0f', number)
  freed = freed + redis.call('HSTRLEN', KEYS[2], name) + redis.call('HSTRLEN', KEYS[3], name)
  redis.call('HDEL', KEYS[2], name)
  redis.call('HDEL', KEYS[3], name)
end
redis.call('HINCRBY', KEYS[1], 'bytes', -freed)
for place = at, at + going - 1 do
  if redis.call('ZREM', KEYS[6], ARGV[place]) == 1 then
    redis.call('HINCRBY', KEYS[1], 'snapshots', -1)
    redis.call('HINCRBY', KEYS[1], 'snapshot-bytes', 1 - redis.call('HSTRLEN', KEYS[5], ARGV[place]))
    redis.call('HDEL', KEYS[5], ARGV[place])
  end
end
at = at + going
for place = at, at + 2 * placed - 1, 2 do redis.call('HSET', KEYS[7], ARGV[place], ARGV[place + 1]) end
redis.call('HSET', KEYS[1], 'pruned', ARGV[2])
redis.call('SET', KEYS[8], mark - new, 'EX', ARGV[3])
return {1, mark - new}
