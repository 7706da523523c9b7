-- After marks moved: a case whose mark has reached what was about to be committed is no longer pending. One that is
-- about to move further stays.
-- KEYS: pending
-- ARGV: mark and case, repeated
for at = 1, #ARGV, 2 do
  local score = redis.call('ZSCORE', KEYS[1], ARGV[at + 1])
  if score and tonumber(score) <= tonumber(ARGV[at]) then redis.call('ZREM', KEYS[1], ARGV[at + 1]) end
end
return 1
