import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import {
  type LimitCommand,
  type LimitCommandName,
  type LimitStore,
  LimitStoreUnavailableError,
} from './limit-store.ts';
import { type RedisConnectionOptions, redisOptions } from './redis-client.ts';

/** Server time in Unix milliseconds, because gateway clocks may differ. All keys that these scripts write expire. */
const NOW = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
`;

/**
 * KEYS: sorted set of gateways. ARGV: gateway, milliseconds after which a gateway without a report is removed.
 * Returns the server time and the number of gateways.
 */
const PRESENCE = `${NOW}
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return { now, redis.call('ZCARD', KEYS[1]) }
`;

/** KEYS: sorted set of gateways. ARGV: gateway. */
const REMOVE_GATEWAY = `
redis.call('ZREM', KEYS[1], ARGV[1])
return {}
`;

/**
 * Leaky buckets. KEYS: one per rate. ARGV: gateway, maximum missing tokens as a number of full buckets, maximum
 * seconds of refill between two reports; per key: report number, tokens taken, tokens missing at this gateway, tokens
 * per second, bucket size. A repeated report is counted once. Returns the missing tokens of each key.
 */
const RATES = `${NOW}
local gateway, buckets, between = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local missing = {}
for i, key in ipairs(KEYS) do
  local at = i * 5 - 1
  local telling, taken, mine = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local rate, size = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
  local known = redis.call('HMGET', key, 'm', 't', gateway)
  local level = mine
  if known[1] and known[2] then
    local elapsed = math.max(0, now - tonumber(known[2]))
    local last, counted = string.match(known[3] or '', '^(%d+):(.*)$')
    if last ~= telling then counted = 0 end
    level = math.max(0, tonumber(known[1]) - elapsed * rate / 1000) +
      math.min(mine + between * rate, math.max(0, taken - tonumber(counted)))
  end
  level = math.min(level, size * buckets)
  missing[i] = string.format('%.3f', level)
  -- Includes gateways that no longer exist.
  if redis.call('HLEN', key) > 2 + 4 * buckets then redis.call('DEL', key) end
  redis.call('HSET', key, 'm', missing[i], 't', string.format('%.0f', now), gateway, telling .. ':' .. taken)
  redis.call('PEXPIRE', key, string.format('%.0f', math.ceil((level / rate + between) * 1000) + 1000))
end
return missing
`;

/**
 * Sliding windows, divided into parts. KEYS: one per name. ARGV: gateway, oldest part that counts, key expiry in
 * milliseconds; per key: number of parts, then each part with its total requests. Returns the parts of other gateways
 * for each key.
 */
const WINDOWS = `
local gateway, oldest = ARGV[1], tonumber(ARGV[2])
local at = 3
local others = {}
for i, key in ipairs(KEYS) do
  at = at + 1
  for _ = 1, tonumber(ARGV[at]) do
    redis.call('HSET', key, ARGV[at + 1] .. ':' .. gateway, ARGV[at + 2])
    at = at + 2
  end
  local fields = redis.call('HGETALL', key)
  local counted = {}
  for f = 1, #fields, 2 do
    local part, who = string.match(fields[f], '^(%d+):(.*)$')
    if part == nil or tonumber(part) < oldest then
      redis.call('HDEL', key, fields[f])
    elseif who ~= gateway then
      counted[#counted + 1] = tonumber(part)
      counted[#counted + 1] = tonumber(fields[f + 1])
    end
  end
  redis.call('PEXPIRE', key, ARGV[3])
  others[i] = counted
end
return others
`;

/**
 * Open connections. KEYS: one per name. ARGV: gateway, milliseconds after which a count expires unless refreshed; per
 * key: connections of this gateway. Returns the connections of other gateways.
 */
const CONNECTIONS = `${NOW}
local gateway, lasts = ARGV[1], tonumber(ARGV[2])
local others = {}
for i, key in ipairs(KEYS) do
  local open = tonumber(ARGV[i + 2])
  if open > 0 then
    redis.call('HSET', key, gateway, string.format('%.0f:%.0f', open, now + lasts))
  else
    redis.call('HDEL', key, gateway)
  end
  local fields = redis.call('HGETALL', key)
  local held = 0
  for f = 1, #fields, 2 do
    local count, ends = string.match(fields[f + 1], '^(%d+):(%d+)$')
    if ends == nil or tonumber(ends) <= now then
      redis.call('HDEL', key, fields[f])
    elseif fields[f] ~= gateway then
      held = held + tonumber(count)
    end
  end
  redis.call('PEXPIRE', key, ARGV[2])
  others[i] = held
end
return others
`;

/**
 * Monthly credits. KEYS: one per customer and plan. ARGV: id of this run, expiry (Unix milliseconds); per key: total
 * credits of this run. Returns the credits of other runs.
 */
const QUOTAS = `
local others = {}
for i, key in ipairs(KEYS) do
  redis.call('HSET', key, ARGV[1], ARGV[i + 2])
  redis.call('PEXPIREAT', key, ARGV[2])
  local spent = 0
  local fields = redis.call('HGETALL', key)
  for f = 1, #fields, 2 do
    if fields[f] ~= ARGV[1] then spent = spent + tonumber(fields[f + 1]) end
  end
  others[i] = string.format('%.0f', spent)
end
return others
`;

/**
 * Minimum slots of sessions. KEYS: one per session. ARGV: TTL in milliseconds; per key: the slots of the session.
 * Returns the highest known value of each slot.
 */
const MIN_SLOTS = `
local most = {}
local marks = (#ARGV - 1) / #KEYS
for i, key in ipairs(KEYS) do
  local high = {}
  for mark = 1, marks do
    local slot = ARGV[1 + (i - 1) * marks + mark]
    local known = redis.call('HGET', key, mark)
    if known and tonumber(known) >= tonumber(slot) then
      slot = known
    else
      redis.call('HSET', key, mark, slot)
    end
    high[mark] = slot
  end
  redis.call('PEXPIRE', key, ARGV[1])
  most[i] = high
end
return most
`;

const scripts: Readonly<Record<LimitCommandName, string>> = {
  presence: PRESENCE,
  'remove-gateway': REMOVE_GATEWAY,
  rates: RATES,
  windows: WINDOWS,
  connections: CONNECTIONS,
  quotas: QUOTAS,
  'min-slots': MIN_SLOTS,
};

type RedisLimitStoreOptions = RedisConnectionOptions &
  Readonly<{
    /** `redis://` or `rediss://`; may contain a password. */
    url: string;
  }>;

/** Limit store in Redis or Valkey, shared by gateways on several machines. */
export class RedisLimitStore implements LimitStore {
  readonly #redis: Redis;
  readonly #connectTimeoutMs: number;
  #connectionError: unknown;

  constructor(options: RedisLimitStoreOptions) {
    this.#connectTimeoutMs = options.connectTimeoutMs;
    this.#redis = new Redis(options.url, redisOptions(options));
    // `problem` reports this error.
    this.#redis.on('error', (error) => {
      this.#connectionError = error;
    });
  }

  get problem(): LimitStoreUnavailableError | null {
    return this.#redis.status === 'ready' ? null : new LimitStoreUnavailableError(this.#connectionError);
  }

  async start(): Promise<void> {
    if (this.problem === null) return;
    const ready = new Promise((resolve) => this.#redis.once('ready', resolve));
    await Promise.race([ready, delay(this.#connectTimeoutMs, undefined, { ref: false })]);
  }

  async execute(steps: readonly LimitCommand[]): Promise<readonly unknown[]> {
    const pipeline = this.#redis.pipeline();
    for (const { name, keys, values } of steps) {
      pipeline.eval(scripts[name], keys.length, ...keys, ...values);
    }
    return repliesOf(await pipeline.exec());
  }

  async stop(): Promise<void> {
    this.#redis.disconnect();
  }
}

function repliesOf(results: [Error | null, unknown][] | null): unknown[] {
  if (results === null) throw new LimitStoreUnavailableError(undefined);
  return results.map(([error, reply]) => {
    if (error !== null) throw error;
    return reply;
  });
}
