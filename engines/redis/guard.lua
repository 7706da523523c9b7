-- Put before scripts that must not write into a store that lost writes or is refused.
-- told: what the caller knows, in four values: its own name, the epoch it has seen (empty: none), the greatest beat it
-- has seen, and 1 where it has itself refused the store to everyone else, else 0.
local function behind(about, told)
  local now = redis.call('HMGET', about, 'epoch', 'refused', 'refuser', 'beat')
  local own = now[3] == told[1]
  if now[2] and not own then return true end
  if told[4] == '1' and not own then return true end
  if told[2] ~= '' and now[1] ~= told[2] then return true end
  return tonumber(now[4] or '0') < tonumber(told[3])
end
