import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { startService } from '../service/start-service.ts';
import { Gauge, sparkline } from './geyser/gauge.ts';
import { makeKeys } from './rest/keys.ts';
import { Pulse, waitedForProcessorMs } from './rest/pulse.ts';
import { isHealthy, startSlowHosts } from './rest/slow-hosts.ts';
import { percentile, Storm } from './rest/storm.ts';
import { startWalletNode } from './rest/wallet-node.ts';

const USAGE = `Usage: npm run soak:rest -- [options]

Runs the real program in front of a scripted node, and asks wallet/all_tokens for many wallets whose tokens point at
metadata on 100 hosts: 10 answer, 10 drip, 80 take the request and say nothing. More requests are sent at once than
the keys may have under way: those that are refused as OVERLOADED are counted apart and sent again. Says how long
answers took, how many calls each cost the node, what the gateway held, and how quickly GET /health was answered.
First it asks in the same way for other wallets, whose tokens point at nothing: what that takes is this machine's own.
Ends with 1 when a request failed, an answer was late (the 99th percentile, or the longest, more than the 5 s that all
fetching of an answer may take above what it was without), metadata
of a host that answers was missing, more fetches were open than may be, a request cost more calls than it must, memory
grew without end, or nothing was refused although more was asked for than may be.

  --wallets N      (default 10000)
  --hosts N        10 to 250 (default 100)
  --tokens N       different tokens (default 2000)
  --per-wallet N   tokens of a wallet (default 20)
  --keys N         keys, in turn (default 3)
  --key-at-once N  requests that a key may have under way (default 100)
  --at-once N      requests that are sent at once, with all keys (default 400)
  --json           print the result as JSON
`;

const { values } = parseArgs({
  options: {
    wallets: { type: 'string', default: '10000' },
    hosts: { type: 'string', default: '100' },
    tokens: { type: 'string', default: '2000' },
    'per-wallet': { type: 'string', default: '20' },
    keys: { type: 'string', default: '3' },
    'key-at-once': { type: 'string', default: '100' },
    'at-once': { type: 'string', default: '400' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}

const say = (text: string): void => {
  if (!values.json) process.stdout.write(`${new Date().toISOString()} ${text}\n`);
};

const [wallets, hostsMax, tokens, perWallet] = [
  values.wallets,
  values.hosts,
  values.tokens,
  values['per-wallet'],
].map(Number) as [number, number, number, number];
const [keyCount, keyAtOnce, atOnce] = [values.keys, values['key-at-once'], values['at-once']].map(Number) as [
  number,
  number,
  number,
];

/** Two scans, and mints with their metadata in hundreds. */
const CALLS_MAX = 2 + Math.ceil((2 * perWallet) / 100);
/** The limit of all fetching for an answer. */
const FETCHING_MS = 5_000;
/** What answers may be later than that besides: fetching takes a processor too. */
const P99_BESIDE_MS = 500;
const LONGEST_BESIDE_MS = 2_000;
const FETCHES_OPEN_MAX = 256;
const MEMORY_MAX_MIB = 768;

const hosts = await startSlowHosts();
/** Wallets that are asked for to learn what answers take without fetching. */
const WITHOUT_FETCHING = 2_000;
const node = await startWalletNode(tokens, perWallet, (token) => hosts.uri(token % hostsMax, token));
const configurationFor = (url: string): string => `
[[upstream]]
url = "${url}"
ws = "off"

[rest]
requests_per_minute = 10_000_000
key_in_flight_max = ${keyAtOnce}

[off_chain]
allow_networks = ["127.1.0.0/16"]
ports = [${hosts.port}]

[internal.off_chain]
in_flight_max = ${FETCHES_OPEN_MAX}
`;

/** What the same storm takes on this machine where tokens point at nothing. */
async function timesWithout(): Promise<ReturnType<Storm['times']>> {
  const bare = await startWalletNode(tokens, perWallet, () => '');
  const running = await startService({ configuration: configurationFor(bare.url) });
  const calm = new Storm({
    url: `${running.ready.url}/sol/v1/wallet/all_tokens`,
    keys: await makeKeys(running, keyCount),
    wallet: bare.wallet,
    perWallet,
    hasImage: () => false,
  });
  await calm.run(Math.min(wallets, WITHOUT_FETCHING), atOnce);
  await running.stop();
  bare.stop();
  return calm.times();
}

const without = await timesWithout();
say(`without fetching: p50 ${without.p50} ms, p99 ${without.p99} ms, longest ${without.longest} ms`);
const [p99Max, longestMax] = [
  without.p99 + FETCHING_MS + P99_BESIDE_MS,
  without.longest + FETCHING_MS + LONGEST_BESIDE_MS,
];
const configuration = configurationFor(node.url);
const service = await startService({ configuration });
const keys = await makeKeys(service, keyCount);
const gatewayPid = service.process.pid ?? 0;
const gauge = new Gauge(gatewayPid);
const pulse = new Pulse(`${service.ready.url}/health`);
const ownDelay = monitorEventLoopDelay({ resolution: 10 });
ownDelay.enable();
say(`${wallets} wallets with ${perWallet} of ${tokens} tokens each; metadata on ${hostsMax} hosts`);
say(`${atOnce} requests at once with ${keyCount} keys, each of which may have ${keyAtOnce} under way`);

const storm = new Storm({
  url: `${service.ready.url}/sol/v1/wallet/all_tokens`,
  keys,
  wallet: node.wallet,
  perWallet,
  hasImage: (token) => isHealthy(token % hostsMax),
});
const cpuBefore = process.cpuUsage();
const waitedBefore = waitedForProcessorMs(gatewayPid);
const startedAt = performance.now();
await storm.run(wallets, atOnce);
const seconds = (performance.now() - startedAt) / 1_000;
gauge.stop();
ownDelay.disable();
const waitedMs = Math.round(waitedForProcessorMs(gatewayPid) - waitedBefore);
const cpuShare = gauge.cpuShare.toFixed(2);
const ownCpu = process.cpuUsage(cpuBefore);
const ownCpuShare = ((ownCpu.user + ownCpu.system) / 1e6 / seconds).toFixed(2);
const healthMs = await pulse.stop();

const { p50, p99, longest } = storm.times();
const [healthP50, healthP99, healthLongest] = [0.5, 0.99, 1].map((share) => percentile(healthMs, share));
const ownDelayMs = Math.round(ownDelay.percentile(99) / 1e6);
const callsMost = Math.max(...storm.calls);
const memoryMax = Math.max(...gauge.memoryMib);
/** Limits of time hold for a gateway that has a processor when it needs one. */
const WAITED_MAX_SHARE = 0.1;
const isStarved = waitedMs > WAITED_MAX_SHARE * seconds * 1_000;
const starved = isStarved ? ` (the gateway waited ${waitedMs} ms for a processor: is the machine busy?)` : '';
const wrong = [
  ...storm.failed.slice(0, 5),
  ...(p99 > p99Max ? [`p99 of ${p99} ms is above ${p99Max} ms${starved}`] : []),
  ...(longest > longestMax ? [`the longest of ${longest} ms is above ${longestMax} ms${starved}`] : []),
  ...(hosts.openMax() > FETCHES_OPEN_MAX
    ? [`${hosts.openMax()} fetches were open: ${FETCHES_OPEN_MAX} may be`]
    : []),
  ...(storm.imagesMissing > 0
    ? [`${storm.imagesMissing} images of hosts that answer are missing, of ${storm.imagesDue}`]
    : []),
  ...(storm.imagesDue === 0 ? ['no token points at a host that answers'] : []),
  ...(atOnce > keyCount * keyAtOnce && storm.overloaded === 0 ? ['nothing was refused as OVERLOADED'] : []),
  ...(callsMost > CALLS_MAX ? [`a request cost ${callsMost} calls: ${CALLS_MAX} are enough`] : []),
  ...(memoryMax > MEMORY_MAX_MIB ? [`the gateway held ${memoryMax} MiB`] : []),
];
const result = {
  ...{
    without,
    wallets,
    hosts: hostsMax,
    seconds,
    p50,
    p99,
    longest,
    overloaded: storm.overloaded,
    callsMost,
  },
  ...{ imagesDue: storm.imagesDue, imagesMissing: storm.imagesMissing },
  ...{ fetches: hosts.requests(), fetchesOpenMax: hosts.openMax(), memoryMib: gauge.memoryMib },
  ...{ healthP50, healthP99, healthLongest, ownDelayMs, cpuShare, ownCpuShare, waitedMs, wrong },
};
if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
say(
  `${Math.round(wallets / seconds)} requests a second; p50 ${p50} ms, p99 ${p99} ms, longest ${longest} ms; ${storm.overloaded} times OVERLOADED`,
);
say(`calls to the node: at most ${callsMost} for a request; ${[...node.calls].map(String).join(', ')}`);
say(
  `hosts saw ${hosts.requests()} requests, ${hosts.openMax()} open at most; ${storm.imagesMissing} of ${storm.imagesDue} images of those that answer are missing`,
);
say(
  `GET /health took p50 ${healthP50} ms, p99 ${healthP99} ms, longest ${healthLongest} ms; the clients' own delay was p99 ${ownDelayMs} ms`,
);
say(
  `processors: the gateway ${cpuShare}, the clients with the node and the hosts ${ownCpuShare}; the gateway waited ${waitedMs} ms for one that others held`,
);
say(`memory of the gateway ${sparkline(gauge.memoryMib)} up to ${memoryMax} MiB`);
say(wrong.length === 0 ? 'Everybody was answered in time.' : wrong.join('\n'));
await service.stop();
node.stop();
hosts.stop();
process.exit(wrong.length === 0 ? 0 : 1);
