package rediscompat

import "github.com/redis/go-redis/v9"

// Each script may be repeated: a second run after a lost reply changes nothing
// more. Except pushOnce, each one touches a single key.
var (
	// renewOwn: KEYS awaiting; ARGV value, milliseconds. 1 when it was ours.
	renewOwn = redis.NewScript(`
if redis.call('TYPE', KEYS[1]).ok ~= 'string' or redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`)

	// deleteOwn: KEYS awaiting; ARGV value. 1 when it was ours.
	deleteOwn = redis.NewScript(`
if redis.call('TYPE', KEYS[1]).ok ~= 'string' or redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`)

	// replace: KEYS awaiting; ARGV old value, new value, milliseconds. 1 when it held the old
	// one, or the new one already.
	replace = redis.NewScript(`
if redis.call('TYPE', KEYS[1]).ok ~= 'string' then return 0 end
local value = redis.call('GET', KEYS[1])
if value ~= ARGV[1] and value ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`)

	// readHead: KEYS confirm; ARGV stamp, milliseconds. Returns the head of the list, stamped
	// if it was not yet, or nil. The list gets a time to live if it has none, so that it
	// goes away also when nobody is left to delete it.
	readHead = redis.NewScript(`
if redis.call('TYPE', KEYS[1]).ok ~= 'list' then return false end
local head = redis.call('LINDEX', KEYS[1], 0)
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if not string.find(head, '^countersign%-read:%x+:%x+:%d+:') then
  head = ARGV[1] .. head
  redis.call('LSET', KEYS[1], 0, head)
end
return head`)

	// pushOnce: KEYS confirm, marker; ARGV text, milliseconds of the list (0: leave it),
	// milliseconds of the marker. 1 pushed now or before, 0 the key is no list.
	pushOnce = redis.NewScript(`
if redis.call('EXISTS', KEYS[2]) == 1 then return 1 end
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'list' and kind ~= 'none' then return 0 end
redis.call('RPUSH', KEYS[1], ARGV[1])
if tonumber(ARGV[2]) > 0 and redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
redis.call('SET', KEYS[2], '1', 'PX', ARGV[3])
return 1`)
)
