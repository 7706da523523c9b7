-- Lets go of a case, unless the store has lost writes or is refused to the caller (guard.lua stands before this).
-- KEYS: about, then all keys of the case
-- ARGV: what guard.lua is told
-- Answers 1, or -1 where it must not.
if behind(KEYS[1], ARGV) then return -1 end
for at = 2, #KEYS do redis.call('UNLINK', KEYS[at]) end
return 1
