-- How many parts an owner has, and how many bytes.
-- KEYS: parts
local size, names = 0, redis.call('HKEYS', KEYS[1])
for _, name in ipairs(names) do size = size + redis.call('HSTRLEN', KEYS[1], name) - 1 end
return {#names, size}
