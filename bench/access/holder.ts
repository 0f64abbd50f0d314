import { createLogger } from '../../src/base/log.ts';
import { Admission } from '../../src/gateway/admission.ts';
import { digestApiKey, generateApiKey } from '../../src/gateway/auth/api-key.ts';
import { KeyAuthenticator } from '../../src/gateway/auth/key-authenticator.ts';
import { defaultPlanLimits, type KeyRecord } from '../../src/gateway/auth/key-record.ts';
import { QuotaLedger } from '../../src/gateway/limits/quota.ts';
import { RateLimiter } from '../../src/gateway/limits/rate-limiter.ts';
import type { RequestContext } from '../../src/gateway/metering/call-meter.ts';
import { CallMeter, type MeteredResult } from '../../src/gateway/metering/call-meter.ts';
import { LastUsedTracker } from '../../src/gateway/metering/last-used.ts';
import { UsageMeter } from '../../src/gateway/metering/usage-meter.ts';
import { createPipeline } from '../../src/gateway/pipeline.ts';
import { RequestCounters } from '../../src/gateway/telemetry/request-counters.ts';
import { RequestLog } from '../../src/gateway/telemetry/request-log.ts';
import { HttpServer } from '../../src/servers/http/server.ts';
import { RpcCalls } from '../../src/servers/rpc/calls.ts';
import { rpcRoutes } from '../../src/servers/rpc/server.ts';
import { clientInfoFor, internalKey } from '../../test/project/callers.ts';
import { dispatcherOf } from '../../test/upstream/mock/dispatcher.ts';
import { MapAndBucket, SignedTokens } from './baselines.ts';
import type { HolderMessage, HolderOrder, Operation } from './messages.ts';

/** Process that holds a number of keys and runs the measured operations. */

/** Keys in use within a minute; each has a usage row for that minute. */
const USED_MAX = 10_000;
/** Few enough keys for the CPU caches, which isolates the cost of holding many keys. */
const FEW_USED = 64;
/** Calls between two clock reads. */
const CALLS = 1_000;
/** Calls between two drains of usage. */
const DRAIN_CALLS = 200_000;
const PAGE = 1_000;

const pepper = Buffer.alloc(32, 1);
const count = Number(process.argv[2]);
const sendMessage = (message: HolderMessage): void => void process.send?.(message);
const client = clientInfoFor('192.0.2.1');
/** Limits that are never reached: a rejection would be cheaper. */
const limits = {
  ...defaultPlanLimits,
  rpcPerSecond: 10_000_000,
  rpcBurst: 10_000_000,
  monthlyCredits: 2 ** 48,
};
/** Typical rules: a network and the methods of an application. */
const rules = {
  ...internalKey.rules,
  networks: ['mainnet-beta'],
  methods: ['get*', 'sendTransaction'],
} as const;

const keys = new KeyAuthenticator({ peppers: new Map([[1, pepper]]), keysMax: 2 * count });
const used: string[] = [];

function makeKey(version: number, everyNth: number): KeyRecord {
  const { text, id } = generateApiKey('rpc');
  if (version % everyNth === 0 && used.length < USED_MAX) used.push(text);
  return {
    id,
    product: 'rpc',
    ...internalKey,
    customerId: `customer ${version % 1_000}`,
    rules: version % 2 === 0 ? rules : internalKey.rules,
    familyId: id,
    name: `key ${version}`,
    digest: digestApiKey(text, pepper),
    pepperVersion: 1,
    status: 'active',
    expiresAt: null,
    limits: { ...limits },
    version,
  };
}

function build(): { bytesPerKey: number; buildSeconds: number } {
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let spent = 0;
  const everyNth = Math.max(1, Math.floor(count / USED_MAX));
  for (let made = 0; made < count; made += PAGE) {
    const page = Array.from({ length: Math.min(PAGE, count - made) }, (_, at) =>
      makeKey(made + at + 1, everyNth),
    );
    const startedAt = performance.now();
    keys.apply(page);
    spent += performance.now() - startedAt;
  }
  keys.setStoreReachable(true);
  globalThis.gc?.();
  return { bytesPerKey: (process.memoryUsage().rss - before) / count, buildSeconds: spent / 1_000 };
}

const facts = build();
const usage = new UsageMeter({ rowsMax: 2_000_000 });
const quota = new QuotaLedger();
const admission = new Admission({ keys, quota, limiter: new RateLimiter({ familiesMax: 2 * count }) });
const meter = new CallMeter({
  usage,
  quota,
  lastUsed: new LastUsedTracker(),
  requestLog: new RequestLog(),
  counters: new RequestCounters(),
});
const ending: MeteredResult = {
  wire: 'rpc',
  product: 'rpc',
  network: 'mainnet-beta',
  method: 'getAccountInfo',
  status: 'ok',
  failure: null,
  rpcCode: 0,
  bytesIn: 120,
  bytesOut: 300,
  params: null,
  result: null,
  credits: 1,
};
const records = used.map((credential) => keys.authenticate(credential, Date.now()));
const contextOf = (at: number): RequestContext => {
  const context = meter.startRequest(client);
  context.key = records[at] as KeyRecord;
  return context;
};
const map = new MapAndBucket(used);
const tokens = new SignedTokens(used);

/** A request without its response. */
function passThrough(at: number): void {
  const context = meter.startRequest(client);
  admission.authenticate({ credential: used[at] as string, client }, 'rpc', 'mainnet-beta', context);
  admission.authorize(context, ending.method, 1);
  admission.consumeRate(context);
  meter.endRequest(context, ending);
}

const operations: Readonly<Record<Operation, (at: number) => unknown>> = {
  authenticate: (at) =>
    admission.authenticate(
      { credential: used[at] as string, client },
      'rpc',
      'mainnet-beta',
      meter.startRequest(client),
    ),
  'permit and limit': (at) => {
    const context = contextOf(at);
    admission.authorize(context, ending.method, 1);
    admission.consumeRate(context);
  },
  meter: (at) => meter.endRequest(contextOf(at), ending),
  'all of it': passThrough,
  'all of it, 64 used': (at) => passThrough(at % Math.min(FEW_USED, used.length)),
  'map and bucket': (at) => map.take(used[at] as string, ending.method, performance.now()),
  'signed token': (at) => tokens.take(tokens.issued[at] as string, Date.now()),
};

/** Runs an operation with keys in scattered order. @returns nanoseconds of CPU per call. */
function measure(work: Operation, seconds: number): number {
  const operation = operations[work];
  const until = performance.now() + seconds * 1_000;
  let [calls, at, microseconds] = [0, 0, 0];
  while (performance.now() < until) {
    const before = process.cpuUsage();
    for (let call = 0; call < CALLS; call++) {
      // An odd step reaches all keys, in a scattered order.
      at = (at + 7_919) % used.length;
      operation(at);
    }
    const { user, system } = process.cpuUsage(before);
    microseconds += user + system;
    calls += CALLS;
    if (calls % DRAIN_CALLS === 0) usage.drain();
  }
  return (microseconds * 1_000) / calls;
}

/** The server in front of a source with a ready response. */
async function serve(): Promise<void> {
  const response = { body: Buffer.from('{"context":{"slot":1},"value":{"lamports":1}}'), errorCode: 0 };
  const source = dispatcherOf(async () => response);
  const log = createLogger('error', (line) => process.stderr.write(`${line}\n`));
  const http = new HttpServer(
    rpcRoutes(new RpcCalls(createPipeline({ admission, source, meter, log }))),
    log,
    { port: 0 },
  );
  const { port } = await http.listen();
  sendMessage({ listening: { port, keys: used } });
}

process.on('message', (order: HolderOrder) => {
  if ('serve' in order) void serve();
  else sendMessage({ nanoseconds: measure(order.operation, order.seconds) });
});
process.on('SIGTERM', () => process.exit());
sendMessage({ ready: facts });
