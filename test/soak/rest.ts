import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { offChainLimits } from '../../src/upstream/off-chain/limits.ts';
import { startService } from '../service/start-service.ts';
import { Gauge, sparkline } from './geyser/gauge.ts';
import { startSlowHosts } from './rest/slow-hosts.ts';
import { startWalletNode } from './rest/wallet-node.ts';

const USAGE = `Usage: npm run soak:rest -- [options]

Runs the real program in front of a scripted node, and asks wallet/all_tokens for many wallets whose tokens point at
metadata on 100 hosts: 10 answer, 10 drip, 80 take the request and say nothing. Says how long answers took, how many
calls each cost the node, and what the gateway held.
Ends with 1 when a request failed, the 99th percentile passed the limit of a fetch by more than a second, a request
cost more calls than it must, or memory grew without end.

  --wallets N      (default 10000)
  --hosts N        1 to 250 (default 100)
  --tokens N       different tokens (default 2000)
  --per-wallet N   tokens of a wallet (default 20)
  --at-once N      requests under way (default 100)
  --json           print the result as JSON
`;

const { values } = parseArgs({
  options: {
    wallets: { type: 'string', default: '10000' },
    hosts: { type: 'string', default: '100' },
    tokens: { type: 'string', default: '2000' },
    'per-wallet': { type: 'string', default: '20' },
    'at-once': { type: 'string', default: '100' },
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

const [wallets, hostsMax, tokens, perWallet, atOnce] = [
  values.wallets,
  values.hosts,
  values.tokens,
  values['per-wallet'],
  values['at-once'],
].map(Number) as [number, number, number, number, number];

/** Two scans, and mints with their metadata in hundreds. */
const CALLS_MAX = 2 + Math.ceil((2 * perWallet) / 100);
/** What a request may take besides fetching: its calls, and its turn among the others. */
const BESIDE_FETCHING_MS = 1_000;
const MEMORY_MAX_MIB = 768;

const hosts = await startSlowHosts();
const node = await startWalletNode(tokens, perWallet, (token) => hosts.uri(token % hostsMax, token));
const configuration = `
[[upstream]]
url = "${node.url}"
ws = "off"

[rest]
requests_per_minute = 10_000_000
key_in_flight_max = ${atOnce}

[off_chain]
allow_networks = ["127.1.0.0/16"]
ports = [${hosts.port}]
`;
const service = await startService({ configuration });
const gauge = new Gauge(service.process.pid ?? 0);
say(`${wallets} wallets with ${perWallet} of ${tokens} tokens each; metadata on ${hostsMax} hosts`);

const tookMs: number[] = [];
const calls: number[] = [];
const failed: string[] = [];
let images = 0;
let next = 0;

async function askFor(index: number): Promise<void> {
  const startedAt = performance.now();
  const url = `${service.ready.url}/sol/v1/wallet/all_tokens?wallet=${node.wallet(index)}`;
  const response = await fetch(url, { headers: { 'x-api-key': service.key } });
  const { success, result } = (await response.json()) as {
    success: boolean;
    result: { info: { name: string; image: string } }[];
  };
  tookMs.push(performance.now() - startedAt);
  calls.push(Number(response.headers.get('x-upstream-calls')));
  const named =
    success && result.length === perWallet && result.every(({ info }) => info.name.startsWith('Token '));
  if (!named) failed.push(`${response.status}: ${JSON.stringify(result)?.slice(0, 200)}`);
  else images += result.filter(({ info }) => info.image !== '').length;
}

const worker = async (): Promise<void> => {
  while (next < wallets) await askFor(next++);
};
const startedAt = performance.now();
await Promise.all(Array.from({ length: atOnce }, worker));
const seconds = (performance.now() - startedAt) / 1_000;
gauge.stop();

tookMs.sort((a, b) => a - b);
const percentile = (share: number): number =>
  Math.round(tookMs[Math.floor((tookMs.length - 1) * share)] ?? 0);
const [p50, p99, longest] = [percentile(0.5), percentile(0.99), percentile(1)];
const callsMost = Math.max(...calls);
const limitMs = offChainLimits.timeoutMs + BESIDE_FETCHING_MS;
const memoryMax = Math.max(...gauge.memoryMib);
const wrong = [
  ...failed.slice(0, 5),
  ...(p99 > limitMs ? [`p99 of ${p99} ms is above ${limitMs} ms`] : []),
  ...(callsMost > CALLS_MAX ? [`a request cost ${callsMost} calls: ${CALLS_MAX} are enough`] : []),
  ...(memoryMax > MEMORY_MAX_MIB ? [`the gateway held ${memoryMax} MiB`] : []),
  ...(images === 0 ? ['no image of a host that answers was loaded'] : []),
];
const result = {
  ...{ wallets, hosts: hostsMax, seconds, p50, p99, longest, callsMost, images },
  ...{ fetches: hosts.requests(), fetchesOpenMax: hosts.openMax(), memoryMib: gauge.memoryMib, wrong },
};
if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
say(
  `${Math.round(wallets / seconds)} requests a second; p50 ${p50} ms, p99 ${p99} ms, longest ${longest} ms`,
);
say(`calls to the node: at most ${callsMost} for a request; ${[...node.calls].map(String).join(', ')}`);
say(`hosts saw ${hosts.requests()} requests, ${hosts.openMax()} open at most; ${images} images were loaded`);
say(`memory of the gateway ${sparkline(gauge.memoryMib)} up to ${memoryMax} MiB`);
say(wrong.length === 0 ? 'Everybody was answered in time.' : wrong.join('\n'));
await service.stop();
node.stop();
hosts.stop();
process.exit(wrong.length === 0 ? 0 : 1);
