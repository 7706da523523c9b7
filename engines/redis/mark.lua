-- Before commits: checks the store, counts the beat, and notes which cases are about to move, so that whatever is
-- committed is found by `unpublished` even where the committer dies next.
-- KEYS: about, pending, tenants
-- ARGV: 4 values for the guard; the number of tenants; the tenants; then number and case of each commit
-- Answers the beat, or -1 where the store is behind: then nothing was written.
if behind(KEYS[1], {ARGV[1], ARGV[2], ARGV[3], ARGV[4]}) then return -1 end
local last = 5 + tonumber(ARGV[5])
for at = 6, last do redis.call('SADD', KEYS[3], ARGV[at]) end
for at = last + 1, #ARGV, 2 do redis.call('ZADD', KEYS[2], 'GT', ARGV[at], ARGV[at + 1]) end
return redis.call('HINCRBY', KEYS[1], 'beat', 1)
