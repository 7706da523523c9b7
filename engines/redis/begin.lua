-- Gives the store its epoch where it has none, or (2nd argument 1) in any case.
-- KEYS: about
-- ARGV: the epoch, 1 or 0, the caller's name
-- Answers 1 where the store has this epoch now, else 0; 0 too where another makes the store anew.
local refuser = redis.call('HGET', KEYS[1], 'refuser')
if ARGV[2] == '1' and refuser ~= ARGV[3] then return 0 end
local now = redis.call('HGET', KEYS[1], 'epoch')
if now and now ~= ARGV[1] and ARGV[2] ~= '1' then return 0 end
redis.call('HSET', KEYS[1], 'epoch', ARGV[1])
return 1
