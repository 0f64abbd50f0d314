import { setTimeout as sleep } from 'node:timers/promises';
import { START_MS } from '../programs/localnet.ts';
import { logUnless, readOptions } from '../programs/options.ts';
import { Gauge } from '../programs/process-stats.ts';
import { eventually } from '../service/eventually.ts';
import { keysCommand } from '../service/keys-command.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { isHealthy, startSlowHosts } from './rest/slow-hosts.ts';
import { Storm, timesOf } from './rest/storm.ts';
import { startWalletNode, walletAt } from './rest/wallet-node.ts';

const USAGE = `Usage: npm run soak:rest -- [options]

Runs the program in front of a scripted node and requests wallet/all_tokens for many wallets whose tokens have metadata
on 100 hosts: 10 respond, 10 send a byte at a time, 80 never respond. More requests are sent at once than the keys may
have in flight: those rejected as OVERLOADED are counted and retried. Reports latencies, calls to the node, memory of the
gateway, and the latency of GET /health.
The latencies of this machine without fetching are measured first, with tokens that have no metadata.
Exits with 1 when a request failed or was late (p99 or maximum more than the 5 s that all fetching of a response may
take above those without fetching), metadata of a healthy host was missing, more fetches were open than allowed, a
request needed too many calls, memory grew without limit, or nothing was rejected although the limit was exceeded.

  --wallets N      (default 10000)
  --hosts N        10 to 250 (default 100)
  --tokens N       different tokens (default 2000)
  --per-wallet N   tokens of a wallet (default 20)
  --keys N         keys, in turn (default 3)
  --key-at-once N  requests that a key may have in flight (default 100)
  --at-once N      requests that are sent at once, with all keys (default 400)
  --json           print the result as JSON
`;

const options = readOptions(
  USAGE,
  {
    ...{ wallets: 10_000, hosts: 100, tokens: 2_000, 'per-wallet': 20, keys: 3 },
    ...{ 'key-at-once': 100, 'at-once': 400, json: false },
  },
  { hosts: [10, 250] },
);
const { wallets, hosts: hostsMax, tokens, keys: keyCount } = options;
const { 'per-wallet': perWallet, 'key-at-once': keyAtOnce, 'at-once': atOnce } = options;
const say = logUnless(options.json);

/** Two scans, then mints and metadata accounts, 100 per call. */
const CALLS_MAX = 2 + Math.ceil((2 * perWallet) / 100);
/** Time limit of all fetching for a response. */
const FETCHING_MS = 5_000;
/** Additional time for responses, because fetching needs CPU time, too. */
const P99_EXTRA_MS = 500;
const LONGEST_EXTRA_MS = 2_000;
const FETCHES_OPEN_MAX = 256;
const MEMORY_MAX_MIB = 768;
/** Number of wallets that are requested without fetching. */
const WITHOUT_FETCHING = 2_000;
const HEALTH_EVERY_MS = 50;
/** Above this share of waiting for a CPU, faults mention that the machine may be overloaded. */
const WAITED_MAX_SHARE = 0.1;

const configurationFor = (url: string, port: number): string => `
[[upstream]]
url = "${url}"
ws = "off"

[rest]
requests_per_minute = 10_000_000
key_in_flight_max = ${keyAtOnce}

[off_chain]
allow_networks = ["127.1.0.0/16"]
ports = [${port}]

[internal.off_chain]
in_flight_max = ${FETCHES_OPEN_MAX}
`;

async function makeKeys(service: RunningService): Promise<string[]> {
  const keys = [service.key];
  while (keys.length < keyCount)
    keys.push((await keysCommand(service, 'create', '--name', `soak ${keys.length}`)).secret);
  for (const key of keys) {
    const send = () => fetch(`${service.ready.url}/sol/v1/wallet/balance`, { headers: { 'x-api-key': key } });
    await eventually(async () => (await send()).status === 400, 'the key is let in');
  }
  return keys;
}

/** Latencies of a cheap endpoint, which show how long the server's event loop is blocked. */
const healthMs: number[] = [];

async function watchHealth(url: string, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const startedAt = performance.now();
    await (await fetch(url)).arrayBuffer();
    healthMs.push(performance.now() - startedAt);
    await sleep(HEALTH_EVERY_MS);
  }
}

const hosts = await startSlowHosts();

async function start(uriOf: (token: number) => string, hasImage: (token: number) => boolean) {
  const node = await startWalletNode(tokens, perWallet, uriOf);
  const service = await startService({
    configuration: configurationFor(node.url, hosts.port),
    timeoutMs: START_MS,
  });
  const storm = new Storm({
    url: `${service.ready.url}/sol/v1/wallet/all_tokens`,
    keys: await makeKeys(service),
    ...{ wallet: walletAt, perWallet, hasImage },
  });
  return { node, service, storm };
}

const bare = await start(
  () => '',
  () => false,
);
await bare.storm.run(Math.min(wallets, WITHOUT_FETCHING), atOnce);
await bare.service.stop();
await bare.node.close();
const without = timesOf(bare.storm.tookMs);
say(`without fetching: p50 ${without.p50} ms, p99 ${without.p99} ms, max ${without.longest} ms`);
const p99Max = without.p99 + FETCHING_MS + P99_EXTRA_MS;
const longestMax = without.longest + FETCHING_MS + LONGEST_EXTRA_MS;

const { node, service, storm } = await start(
  (token) => hosts.uri(token % hostsMax, token),
  (token) => isHealthy(token % hostsMax),
);
const gauge = new Gauge(service.process.pid ?? 0);
say(`${wallets} wallets with ${perWallet} of ${tokens} tokens each; metadata on ${hostsMax} hosts`);
say(`${atOnce} requests at once with ${keyCount} keys, each of which may have ${keyAtOnce} in flight`);
let isOver = false;
const watching = watchHealth(`${service.ready.url}/health`, () => isOver);
const startedAt = performance.now();
await storm.run(wallets, atOnce);
const seconds = (performance.now() - startedAt) / 1_000;
gauge.stop();
const { waitedMs } = gauge;
const cpuShare = gauge.cpuShare.toFixed(2);
isOver = true;
await watching;

const { p50, p99, longest } = timesOf(storm.tookMs);
const health = timesOf(healthMs);
const callsMost = Math.max(...storm.calls);
const memoryMax = Math.max(...gauge.memoryMib);
const { overloaded, imagesDue, imagesMissing } = storm;
const [fetches, fetchesOpenMax] = [hosts.requests(), hosts.openMax()];
const isStarved = waitedMs > WAITED_MAX_SHARE * seconds * 1_000;
const starved = isStarved ? ` (the gateway waited ${waitedMs} ms for a processor: is the machine busy?)` : '';
const checks: readonly [isBroken: boolean, fault: string][] = [
  [p99 > p99Max, `p99 of ${p99} ms is above ${p99Max} ms${starved}`],
  [longest > longestMax, `the maximum of ${longest} ms is above ${longestMax} ms${starved}`],
  [fetchesOpenMax > FETCHES_OPEN_MAX, `${fetchesOpenMax} fetches were open, not ${FETCHES_OPEN_MAX}`],
  [imagesMissing > 0, `${imagesMissing} of ${imagesDue} images of healthy hosts are missing`],
  [imagesDue === 0, 'no token has metadata on a healthy host'],
  [atOnce > keyCount * keyAtOnce && overloaded === 0, 'nothing was rejected as OVERLOADED'],
  [callsMost > CALLS_MAX, `a request needed ${callsMost} calls, not ${CALLS_MAX}`],
  [memoryMax > MEMORY_MAX_MIB, `the gateway used ${memoryMax} MiB`],
];
const wrong = [
  ...storm.failed.slice(0, 5),
  ...checks.filter(([isBroken]) => isBroken).map(([, fault]) => fault),
];
const result = {
  ...{ without, wallets, hosts: hostsMax, seconds, p50, p99, longest, overloaded, callsMost },
  ...{ imagesDue, imagesMissing, fetches, fetchesOpenMax, health, cpuShare, waitedMs, wrong },
};
if (options.json) process.stdout.write(`${JSON.stringify({ ...result, memoryMib: gauge.memoryMib })}\n`);
for (const [name, value] of Object.entries(result)) say(`${name}: ${JSON.stringify(value)}`);
say(gauge.summary);
say(wrong.length === 0 ? 'All requests were answered in time.' : wrong.join('\n'));
await service.stop();
await node.close();
hosts.stop();
process.exit(wrong.length === 0 ? 0 : 1);
