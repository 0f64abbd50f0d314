import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { START_MS } from '../programs/localnet.ts';
import { logUnless, readOptions } from '../programs/options.ts';
import { Gauge, percentile } from '../programs/process-stats.ts';
import { startService } from '../service/start-service.ts';
import { makeKeys } from './rest/keys.ts';
import { Pulse } from './rest/pulse.ts';
import { isHealthy, startSlowHosts } from './rest/slow-hosts.ts';
import { Storm } from './rest/storm.ts';
import { startWalletNode } from './rest/wallet-node.ts';

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

/** Two scans, and mints with their metadata in hundreds. */
const CALLS_MAX = 2 + Math.ceil((2 * perWallet) / 100);
/** Limit of all fetching for a response. */
const FETCHING_MS = 5_000;
/** Additional time for responses: fetching needs a processor, too. */
const P99_BESIDE_MS = 500;
const LONGEST_BESIDE_MS = 2_000;
const FETCHES_OPEN_MAX = 256;
const MEMORY_MAX_MIB = 768;
/** Wallets that are requested without fetching. */
const WITHOUT_FETCHING = 2_000;
/** Time limits apply to a gateway that has a processor when it needs one. */
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

const hosts = await startSlowHosts();

async function start(uriOf: (token: number) => string, hasImage: (token: number) => boolean) {
  const node = await startWalletNode(tokens, perWallet, uriOf);
  const service = await startService({
    configuration: configurationFor(node.url, hosts.port),
    timeoutMs: START_MS,
  });
  const storm = new Storm({
    url: `${service.ready.url}/sol/v1/wallet/all_tokens`,
    keys: await makeKeys(service, keyCount),
    ...{ wallet: node.wallet, perWallet, hasImage },
  });
  return { node, service, storm };
}

const bare = await start(
  () => '',
  () => false,
);
await bare.storm.run(Math.min(wallets, WITHOUT_FETCHING), atOnce);
await bare.service.stop();
bare.node.stop();
const without = bare.storm.times();
say(`without fetching: p50 ${without.p50} ms, p99 ${without.p99} ms, max ${without.longest} ms`);
const p99Max = without.p99 + FETCHING_MS + P99_BESIDE_MS;
const longestMax = without.longest + FETCHING_MS + LONGEST_BESIDE_MS;

const { node, service, storm } = await start(
  (token) => hosts.uri(token % hostsMax, token),
  (token) => isHealthy(token % hostsMax),
);
const gauge = new Gauge(service.process.pid ?? 0);
const pulse = new Pulse(`${service.ready.url}/health`);
const ownDelay = monitorEventLoopDelay({ resolution: 10 });
ownDelay.enable();
say(`${wallets} wallets with ${perWallet} of ${tokens} tokens each; metadata on ${hostsMax} hosts`);
say(`${atOnce} requests at once with ${keyCount} keys, each of which may have ${keyAtOnce} in flight`);
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await storm.run(wallets, atOnce);
const seconds = (performance.now() - startedAt) / 1_000;
gauge.stop();
ownDelay.disable();
const { waitedMs } = gauge;
const cpuShare = gauge.cpuShare.toFixed(2);
const ownCpu = process.cpuUsage(cpuBefore);
const ownCpuShare = ((ownCpu.user + ownCpu.system) / 1e6 / seconds).toFixed(2);
const healthMs = await pulse.stop();

const { p50, p99, longest } = storm.times();
const [healthP50, healthP99, healthLongest] = [0.5, 0.99, 1].map((share) => percentile(healthMs, share));
const ownDelayMs = Math.round(ownDelay.percentile(99) / 1e6);
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
if (options.json) {
  const result = {
    ...{ without, wallets, hosts: hostsMax, seconds, p50, p99, longest, overloaded, callsMost },
    ...{ imagesDue, imagesMissing, fetches, fetchesOpenMax, memoryMib: gauge.memoryMib },
    ...{ healthP50, healthP99, healthLongest, ownDelayMs, cpuShare, ownCpuShare, waitedMs, wrong },
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
const rate = Math.round(wallets / seconds);
say(
  `${rate} requests per second; p50 ${p50} ms, p99 ${p99} ms, max ${longest} ms; ${overloaded} times OVERLOADED`,
);
say(`calls to the node: at most ${callsMost} for a request; ${[...node.calls].map(String).join(', ')}`);
say(
  `hosts: ${fetches} requests, at most ${fetchesOpenMax} open; ${imagesMissing} of ${imagesDue} images missing`,
);
say(
  `GET /health: p50 ${healthP50} ms, p99 ${healthP99} ms, max ${healthLongest} ms; own delay p99 ${ownDelayMs} ms`,
);
say(`processors: gateway ${cpuShare} (waited ${waitedMs} ms), clients with node and hosts ${ownCpuShare}`);
say(gauge.summary);
say(wrong.length === 0 ? 'All requests were answered in time.' : wrong.join('\n'));
await service.stop();
node.stop();
hosts.stop();
process.exit(wrong.length === 0 ? 0 : 1);
