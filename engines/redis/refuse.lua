-- Refuses the store to everyone but the caller, or lifts that.
-- KEYS: about
-- ARGV: the reason (empty: lift it), the caller's name (empty: it does not mean to work on it either)
-- Answers epoch (empty: none) and beat as they are; an empty answer where another has refused it meanwhile, whose word
-- it is not to lift.
if ARGV[1] == '' then
  local refuser = redis.call('HGET', KEYS[1], 'refuser')
  if refuser and refuser ~= '' and refuser ~= ARGV[2] then return {} end
  redis.call('HDEL', KEYS[1], 'refused', 'refuser')
else
  redis.call('HSET', KEYS[1], 'refused', ARGV[1], 'refuser', ARGV[2])
end
local now = redis.call('HMGET', KEYS[1], 'epoch', 'beat')
return {now[1] or '', now[2] or '0'}
