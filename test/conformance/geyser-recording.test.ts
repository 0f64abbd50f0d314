import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { geyserDifferences } from '../../conformance/record/geyser/differences.ts';
import { GeyserRecorder } from '../../conformance/record/geyser/record-geyser.ts';
import { differencesOf, readGeyserRecording } from '../../conformance/record/geyser/recording.ts';
import { type LocalnetGeyser, openLocalnetGeyser } from '../../src/app/localnet/localnet-geyser.ts';
import { createLogger } from '../../src/base/log.ts';
import { type ScriptLedger, startScriptLedger } from './script-ledger.ts';

const file = join(import.meta.dirname, 'recordings', 'yellowstone.jsonl');
const recorded = readGeyserRecording(readFileSync(file, 'utf8'));

/** Differences of the embedded ledger, as texts. */
const found: string[] = [];
let ledger: ScriptLedger;
let geyser: LocalnetGeyser;

beforeAll(async () => {
  let recorder: GeyserRecorder | undefined;
  ledger = await startScriptLedger(async (node) => {
    const log = createLogger('silent', () => {});
    geyser = await openLocalnetGeyser(node, { host: '127.0.0.1', ports: [0], drainGraceMs: 0, log });
    recorder = await GeyserRecorder.open(`127.0.0.1:${geyser.port}`);
  });
  const rows = new Map(((await recorder?.finish(ledger.run)) ?? []).map((row) => [row.name, row]));
  const absent = (name: string) => ({ name, status: 'not recorded', updates: [] });
  for (const row of recorded)
    found.push(
      ...differencesOf(row, rows.get(row.name) ?? absent(row.name)).map((text) => `${row.name}: ${text}`),
    );
  const differing = recorded.filter(({ name }) => found.some((text) => text.startsWith(`${name}: `)));
  console.log(
    `${recorded.length} streams: ${recorded.length - differing.length} equal, ${differing.length} different`,
  );
}, 120_000);
afterAll(async () => {
  await geyser?.close();
  await ledger?.close();
});

it('Yellowstone streams of the ledger equal those of the plugin, unless a reason is known', () => {
  const unexplained = found.filter(
    (text) => !geyserDifferences.some((difference) => difference.text.test(text)),
  );
  expect(unexplained).toEqual([]);
});

it('every reason is needed', () => {
  const certain = geyserDifferences.filter(({ sometimes }) => !sometimes);
  expect(certain.filter(({ text }) => !found.some((one) => text.test(one)))).toEqual([]);
});
