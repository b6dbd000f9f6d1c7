-- takeRequest() of allowance.ts for servers that share a Redis: takes one request from both limits of a key, or from neither.
-- KEYS: the use of the key. ARGV: requests a day; requests a minute; the day and its count as the server knows them; an instant in ms,
-- or "" for Redis's clock; how many requests this one counts as. Returns the day, its count, and the whole seconds to wait: 0 if the request was granted.
local DAY, TOKEN, KEPT_AFTER_DAY, LATE = 86400000, 60000, 3600000, 60000
local daily, rate = tonumber(ARGV[1]), tonumber(ARGV[2])
local uses = math.min(tonumber(ARGV[6]), daily, rate)
local time = redis.call('time')
local now = tonumber(ARGV[5]) or time[1] * 1000 + math.floor(time[2] / 1000)
local stored = redis.call('hmget', KEYS[1], 'day', 'used', 'taken', 'refilled_at')

local day = math.floor(now / DAY)
local late = math.floor((now + LATE) / DAY)
if tonumber(stored[1]) == late then day = late end
local used = tonumber(stored[1]) == day and tonumber(stored[2]) or 0
if tonumber(ARGV[3]) == day then used = math.max(used, tonumber(ARGV[4])) end

local refilled = math.max(0, now - tonumber(stored[4] or 0)) * rate
local taken = math.min(rate * TOKEN, math.max(0, tonumber(stored[3] or 0) - refilled))

local missing = taken + uses * TOKEN - rate * TOKEN
local wait = missing > 0 and math.ceil(missing / rate / 1000) or 0
local tomorrow = (day + 1) * DAY
if used + uses > daily then wait = math.max(wait, 1, math.ceil((tomorrow - now) / 1000)) end
if wait == 0 then used, taken = used + uses, taken + uses * TOKEN end

redis.call('hset', KEYS[1], 'day', day, 'used', used, 'taken', taken, 'refilled_at', now)
redis.call('pexpire', KEYS[1], tomorrow - now + KEPT_AFTER_DAY)
return { day, used, wait }
