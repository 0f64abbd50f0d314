import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { settingOf } from '../../bench/results.ts';
import { defaultUpstreamLimits } from '../../src/upstream/limits.ts';
import { logUnless, readOptions } from '../programs/options.ts';
import { Pace } from '../programs/pace.ts';
import { descriptorsOf, Gauge } from '../programs/process-stats.ts';
import {
  answersOutcome,
  descriptorsOutcome,
  endsOutcome,
  isStarved,
  isWhole,
  loggedOutcome,
  memoryOutcome,
  type Outcome,
  outcomeOf,
  uptimeOutcome,
  watchReleased,
} from './outcomes.ts';
import { interfaceFigures, markdownOf, processFigures } from './report.ts';
import { startSoakedService } from './service.ts';
import { controlSurface } from './surfaces/control.ts';
import { createFundedWallets, type FundedWallet } from './surfaces/funded-wallets.ts';
import { grpcSurface, shredStageSurface } from './surfaces/grpc.ts';
import { jsonRpcSurface } from './surfaces/json-rpc.ts';
import { metricsSurface } from './surfaces/metrics.ts';
import { restSurface } from './surfaces/rest.ts';
import type { Stretch, Surface } from './surfaces/surface.ts';
import { transactionsSurface } from './surfaces/transactions.ts';
import { webSocketSurface } from './surfaces/websocket.ts';
import { udpDropsOf } from './udp-drops.ts';

const USAGE = `Usage: npm run soak -- [options]

Runs the program with its embedded ledger and puts load on all interfaces at once: JSON-RPC over HTTP, transaction
submission, WebSockets, REST with stored files, Yellowstone gRPC, the shred stage, the control API and the dashboard with
a signed-in operator, and /metrics. Compares responses and notifications with the ledger and writes a Markdown report
with rates, percentiles, memory and errors.
Exits with 1 when a promise was broken: an error, a wrong response, a missed or duplicate notification, memory growth,
growing numbers of files or sockets, half-closed connections, or files and sockets that are not released after the load.
Growth is judged in runs of three minutes and more.
Linux only.

  --minutes N    duration of the load, up to 240 (default 30; the whole run takes two minutes more)
  --rate N       multiple of the usual load, 0.1 to 20 (default 1)
  --slot-ms N    length of a slot, 50 to 10000 (default 400)
  --report FILE  where to write the report (default test-artefacts/soak.md)
  --json         print the result as JSON

npm run soak:websocket and npm run soak:grpc test long-lived subscriptions while nodes fail.
`;

const options = readOptions(
  USAGE,
  {
    ...{ minutes: 30, rate: 1, 'slot-ms': 400, json: false },
    report: join(import.meta.dirname, '../../test-artefacts/soak.md'),
  },
  { minutes: [0.1, 240], rate: [0.1, 20], 'slot-ms': [50, 10_000] },
);
const { minutes, rate, 'slot-ms': slotMs, report, json } = options;
const say = logUnless(json);

/** Requests per second, and number of sockets with subscriptions, at rate 1. */
const usual = {
  ...{ jsonRpc: 60, transactions: 10, webSocketCalls: 20, listeners: 20 },
  ...{ rest: 10, grpcCalls: 10, control: 2 },
} as const;
const METRICS_PER_SECOND = 1;
const WALLETS = 10;
/** Time until all subscriptions are active, which web3.js does not report. */
const SETTLED_MS = 3_000;
/** Slots until an accepted transaction is in a block. */
const LANDED_SLOTS = 4;
const FINALIZED_MAX_MS = 120_000;
const PROGRESS_MS = 10_000;
const IDLE_MS = defaultUpstreamLimits.idleTimeoutMs;

const service = await startSoakedService(slotMs);
const { running, request, requestLedger, keyOf } = service;
const gatewayPid = running.process.pid ?? 0;
const ledgerPid = service.ledgerPid() ?? 0;

const slotOf = async (commitment: string): Promise<number> =>
  (await requestLedger('getSlot', [{ commitment }])) as number;

async function openSurfaces(wallets: readonly FundedWallet[]): Promise<Surface[]> {
  const { url, rpcUrl, wsUrl, grpcUrl } = running.ready;
  const key = keyOf('rpc');
  const sent = await transactionsSurface(
    request,
    usual.transactions * rate,
    (signature) => webSocket.expect(signature),
    (stretch) => grpc.landed(stretch),
  );
  const { watched } = sent.traffic;
  const grpcOptions = {
    ...{ url: grpcUrl, key: keyOf('grpc'), stageKey: keyOf('fs'), payer: watched.account, requestLedger },
    ...{ callsPerSecond: usual.grpcCalls * rate, sentAt: sent.sentAt },
    droppedPackets: () => udpDropsOf(gatewayPid),
  };
  const grpc = grpcSurface(grpcOptions);
  const webSocket = await webSocketSurface({
    ...{
      url: `${wsUrl}?api-key=${key}`,
      rpcUrl: `${rpcUrl}?api-key=${key}`,
      requestLedger,
      watched,
      wallets,
    },
    ...{ callsPerSecond: usual.webSocketCalls * rate, sent },
    listeners: Math.max(1, Math.round(usual.listeners * rate)),
  });
  return [
    jsonRpcSurface(rpcUrl, key, wallets, usual.jsonRpc * rate),
    ...[sent, webSocket],
    restSurface(url, key, wallets, usual.rest * rate),
    ...[grpc, shredStageSurface(grpcOptions, grpc.landed)],
    await controlSurface(url, service.setupUrl, usual.control * rate),
    metricsSurface(url, service.metricsToken, METRICS_PER_SECOND),
  ];
}

/** Compares the output of an interface with the ledger. A comparison that throws counts as a broken promise. */
async function checkSurface({ tallies, check }: Surface, stretch: Stretch): Promise<readonly Outcome[]> {
  const promise = `${tallies.map(({ name }) => name).join(', ')}: notifications can be compared with the ledger`;
  try {
    return (await check?.(stretch)) ?? [];
  } catch (fault) {
    return [outcomeOf(promise, 'the comparison failed', [String(fault)])];
  }
}

async function untilFinalized(slot: number): Promise<void> {
  for (const until = performance.now() + FINALIZED_MAX_MS; performance.now() < until; await sleep(200)) {
    if ((await slotOf('finalized')) >= slot) return;
  }
}

say('service started; counting descriptors without clients');
await sleep(IDLE_MS);
const gone = 'after all clients disconnected';
const countEmpty = [
  watchReleased('gateway', gone, () => descriptorsOf(gatewayPid), 2 * IDLE_MS),
  watchReleased('ledger', gone, () => descriptorsOf(ledgerPid), 2 * IDLE_MS),
];
say('funding wallets and waiting for finality');
const surfaces = await openSurfaces(await createFundedWallets(request, WALLETS));
const tallies = surfaces.flatMap((surface) => surface.tallies);
await sleep(SETTLED_MS);
say('subscribed; counting descriptors with idle clients');
await sleep(IDLE_MS);
const idle = 'with idle clients';
/** Excludes the sockets of its clients, whose number may change. */
const withoutClients = (): number => descriptorsOf(gatewayPid) - descriptorsOf(process.pid);
const countIdle = [
  watchReleased('gateway', idle, withoutClients, 2 * IDLE_MS),
  watchReleased('ledger', idle, () => descriptorsOf(ledgerPid), 2 * IDLE_MS),
];

say(`under load for ${minutes} minutes`);
const begunAt = new Date().toISOString();
const begun = await slotOf('processed');
const startedAt = performance.now();
const gauges = {
  ...{ gateway: new Gauge(gatewayPid), ledger: new Gauge(ledgerPid), clients: new Gauge(process.pid) },
};
const paces = surfaces.map(({ load }) => (load === undefined ? null : new Pace(load)));
const progress = setInterval(() => {
  const failed = tallies.reduce((sum, { errors, wrong }) => sum + errors + wrong, 0);
  const count = tallies.reduce((sum, tally) => sum + tally.count, 0);
  const memory = Object.entries(gauges).map(([name, { memoryMib }]) => `${name} ${memoryMib.at(-1)}`);
  say(`${count} responses and messages, ${failed} failed so far; MiB: ${memory.join(', ')}`);
}, PROGRESS_MS);
await Promise.race([sleep(minutes * 60_000), once(running.process, 'exit')]);
clearInterval(progress);
for (const gauge of Object.values(gauges)) gauge.stop();
const seconds = (performance.now() - startedAt) / 1_000;
const processes = running.process.exitCode === null ? Object.entries(gauges) : [];
const figures = processes.map(([name, gauge]) => processFigures(name, gauge));
await Promise.all(paces.map((pace) => pace?.stop()));

say('load finished; comparing with the ledger');
await sleep(LANDED_SLOTS * slotMs);
// If the ledger exited with its gateway, estimate the slot from the time.
const stopped = await slotOf('processed').catch(() => begun + Math.ceil((seconds * 1_000) / slotMs));
const { gateway, ledger, clients } = gauges;
const wasStarved = [gateway, ledger, clients].some(({ waitedMsEach }) => isStarved(waitedMsEach));
await untilFinalized(stopped).catch(() => {});
const outcomes = tallies.filter(({ counted }) => counted === 'answers').map(answersOutcome);
for (const surface of surfaces)
  outcomes.push(...(await checkSurface(surface, { started: begun, stopped, wasStarved })));
for (const [name, gauge] of [['gateway', gateway] as const, ['ledger', ledger] as const])
  outcomes.push(
    memoryOutcome(name, gauge.memoryMib, wasStarved),
    descriptorsOutcome(name, gauge.descriptors),
    uptimeOutcome(name, gauge),
  );
outcomes.push(endsOutcome(gateway.descriptors, [ledger.descriptors, clients.descriptors]));
service.close();
for (const again of countIdle) outcomes.push(await again());
for (const surface of surfaces) surface.close();
for (const again of countEmpty) outcomes.push(await again());
const code = await running.stop();
outcomes.push(loggedOutcome(running.output()));
const exited = `exit code ${code}`;
outcomes.push(outcomeOf('The service exits normally on SIGTERM', exited, code === 0 ? [] : [exited]));

const interfaces = surfaces.flatMap((surface, at) =>
  surface.tallies.map((tally, nth) =>
    interfaceFigures(tally, seconds, nth === 0 ? (paces[at]?.skipped ?? 0) : 0),
  ),
);
const result = {
  ...settingOf(`npm run soak -- --minutes ${minutes} --rate ${rate} --slot-ms ${slotMs}`),
  ...{ begunAt, seconds, slots: stopped - begun, outcomes, interfaces, processes: figures },
};
mkdirSync(dirname(report), { recursive: true });
writeFileSync(report, markdownOf(result));
process.stdout.write(json ? `${JSON.stringify(result)}\n` : markdownOf(result));
say(`report written to ${report}`);
say(isWhole(outcomes) ? 'All promises held.' : 'BROKEN PROMISES');
process.exit(isWhole(outcomes) ? 0 : 1);
