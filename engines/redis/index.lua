-- Rows of one tenant's index, each of which only moves to later versions; and which cases have grown long.
-- KEYS: rows, by-score, by-updated, by-key, long
-- ARGV, of each case: case; number; how many versions are kept and published (empty: not told); place (16 bytes: score
--       and time of update, each so that the greatest comes first) and row, both empty where the row is only looked at
-- Answers the cases that were looked at and whose row is missing or of an earlier version.
local late = {}
for at = 1, #ARGV, 5 do
  local case, number, length, place = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local held = redis.call('HGET', KEYS[1], case)
  local older = not held or tonumber(string.match(held, '^%d+', 17)) < tonumber(number)
  if older and place == '' then
    late[#late + 1] = case
  elseif older then
    local before = held and string.sub(held, 1, 16)
    if before ~= place then
      if before then
        redis.call('ZREM', KEYS[2], before .. case)
        redis.call('ZREM', KEYS[3], string.sub(before, 9) .. case)
      else
        redis.call('ZADD', KEYS[4], 0, case)
      end
      redis.call('ZADD', KEYS[2], 0, place .. case)
      redis.call('ZADD', KEYS[3], 0, string.sub(place, 9) .. case)
    end
    redis.call('HSET', KEYS[1], case, place .. number .. ' ' .. ARGV[at + 4])
  end
  if length ~= '' then
    if tonumber(length) > 64 then
      redis.call('ZADD', KEYS[5], length, case)
    else
      redis.call('ZREM', KEYS[5], case)
    end
  end
end
return late
