import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { geyserDifferences } from '../../conformance/record/geyser/differences.ts';
import { GeyserRecorder, type GeyserRow } from '../../conformance/record/geyser/record-geyser.ts';
import { differencesOf, readGeyserRecording } from '../../conformance/record/geyser/recording.ts';
import { type LocalnetGeyser, openLocalnetGeyser } from '../../src/app/localnet/localnet-geyser.ts';
import { createLogger } from '../../src/base/log.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { type ScriptLedger, startScriptLedger } from './script-ledger.ts';

const file = join(import.meta.dirname, 'recordings', 'yellowstone.jsonl');
const recorded = readGeyserRecording(readFileSync(file, 'utf8'));

type Peer = 'ledger' | 'gateway';

/** Differences of the embedded ledger and of a gateway in front of it, as texts. */
const found: Record<Peer, string[]> = { ledger: [], gateway: [] };
let ledger: ScriptLedger;
let geyser: LocalnetGeyser;
let service: RunningService | undefined;

const absent = (name: string): GeyserRow => ({ name, status: 'not recorded', updates: [] });

function compare(peer: Peer, recordedNow: readonly GeyserRow[]): void {
  const rows = new Map(recordedNow.map((row) => [row.name, row]));
  for (const row of recorded) {
    const differences = differencesOf(row, rows.get(row.name) ?? absent(row.name));
    found[peer].push(...differences.map((text) => `${row.name}: ${text}`));
  }
  const differing = recorded.filter(({ name }) => found[peer].some((text) => text.startsWith(`${name}: `)));
  console.log(
    `${peer}: ${recorded.length} streams, ${recorded.length - differing.length} equal, ${differing.length} different`,
  );
}

const startGateway = (rpcUrl: string, grpcPort: number): Promise<RunningService> =>
  startService({
    timeoutMs: 90_000,
    configuration: `[[upstream]]
name = "ledger"
url = "${rpcUrl}"
ws = "off"
grpc = "http://127.0.0.1:${grpcPort}"
[plans.default]
grpc_streams_max = 1000
`,
  });

beforeAll(async () => {
  const recorders = new Map<Peer, GeyserRecorder>();
  ledger = await startScriptLedger(async (node, rpcUrl) => {
    const log = createLogger('silent', () => {});
    geyser = await openLocalnetGeyser(node, { host: '127.0.0.1', ports: [0], drainGraceMs: 0, log });
    service = await startGateway(rpcUrl, geyser.port);
    const key = service.ready.keys.find(({ product }) => product === 'grpc')?.key ?? '';
    recorders.set('ledger', await GeyserRecorder.open(`127.0.0.1:${geyser.port}`));
    recorders.set('gateway', await GeyserRecorder.open(new URL(service.ready.grpcUrl).host, key));
    // The gateway sends a stream whole slots only: it starts with the next one.
    node.freeze();
  });
  await Promise.all(
    [...recorders].map(async ([peer, recorder]) => compare(peer, await recorder.finish(ledger.run))),
  );
}, 180_000);
afterAll(async () => {
  await service?.stop();
  await geyser?.close();
  await ledger?.close();
});

describe.each<Peer>(['ledger', 'gateway'])('Yellowstone streams of the %s', (peer) => {
  it('equal those of the plugin, unless a reason is known', () => {
    expect(found[peer].filter((text) => !geyserDifferences.some((one) => one.text.test(text)))).toEqual([]);
  });

  it('need every reason', () => {
    const certain = geyserDifferences.filter(({ sometimes }) => !sometimes);
    expect(certain.filter(({ text }) => !found[peer].some((one) => text.test(one)))).toEqual([]);
  });
});
