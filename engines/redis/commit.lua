-- One commit: all of it where the head stands where it is expected, else nothing.
-- KEYS: head, versions, brought, contents, snapshots, snapshotted; and about where one server has all keys
-- ARGV: 1-2 number and id expected; 3-4 number and id of the new head; 5 bytes of the versions
--       6-12 the row: verdict, severity, score, analyses, conflicts, updated_at, subject
--       13-14 the snapshot's number (empty: none) and body; 15-18 for the guard; 19 how many versions
--       then of each version its number, its record and what it brought; then id and number of each content
-- Answers 1; 0 where another writer was first; -1 where the store is behind.
if KEYS[7] and behind(KEYS[7], {ARGV[15], ARGV[16], ARGV[17], ARGV[18]}) then return -1 end
local count = tonumber(ARGV[19])
local now = redis.call('HMGET', KEYS[1], 'number', 'id')
-- a client repeats a call whose answer it did not get: what it had done the first time is still its own
if now[1] and tonumber(now[1]) >= tonumber(ARGV[3])
  and redis.call('HGET', KEYS[2], ARGV[3]) == ARGV[18 + 3 * count] then return 1 end
if now[1] then
  if now[1] ~= ARGV[1] or now[2] ~= ARGV[2] then return 0 end
elseif ARGV[1] ~= '0' then
  return 0
end
local at = 20
for _ = 1, count do
  redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1])
  redis.call('HSET', KEYS[3], ARGV[at], ARGV[at + 2])
  at = at + 3
end
local added = 0
-- in pieces: a call takes some thousands of arguments at most; and not one by one, since a call costs more than its work
for first = at, #ARGV, 2000 do
  local last = math.min(first + 1998, #ARGV - 1)
  local ids, new, has = {}, {}, {}
  for place = first, last, 2 do ids[#ids + 1] = ARGV[place] end
  local held = redis.call('HMGET', KEYS[4], unpack(ids))
  for index, id in ipairs(ids) do
    -- a content that the line already has stays with the version that brought it first
    if not held[index] and not has[id] then
      has[id] = true
      new[#new + 1] = id
      new[#new + 1] = ARGV[first + 2 * index - 1]
    end
  end
  if #new > 0 then added = added + redis.call('HSET', KEYS[4], unpack(new)) end
end
redis.call('HSET', KEYS[1], 'number', ARGV[3], 'id', ARGV[4], 'verdict', ARGV[6], 'severity', ARGV[7], 'score', ARGV[8],
  'analyses', ARGV[9], 'conflicts', ARGV[10], 'updated_at', ARGV[11], 'subject', ARGV[12])
redis.call('HINCRBY', KEYS[1], 'bytes', ARGV[5])
if added > 0 then redis.call('HINCRBY', KEYS[1], 'contents', added) end
if ARGV[13] ~= '' then
  redis.call('HSET', KEYS[5], ARGV[13], ARGV[14])
  redis.call('ZADD', KEYS[6], ARGV[13], ARGV[13])
  redis.call('HINCRBY', KEYS[1], 'snapshots', 1)
  redis.call('HINCRBY', KEYS[1], 'snapshot-bytes', #ARGV[14] - 1)
end
return 1
