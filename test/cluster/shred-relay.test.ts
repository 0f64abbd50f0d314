import { afterEach, expect, it } from 'vitest';
import { openRelayedShreds } from '../../src/app/cluster/relayed-shreds.ts';
import { type ShredRelay, startShredRelay } from '../../src/app/cluster/shred-relay.ts';
import type { Shreds } from '../../src/app/upstreams/shreds.ts';
import { createLogger } from '../../src/base/log.ts';
import { decodeEntryMessage } from '../../src/protocol/shredstream/entries.ts';
import type { Slot } from '../../src/solana/units.ts';
import { DeshredHub } from '../../src/streams/deshred/deshred-hub.ts';
import type { GeyserSink } from '../../src/streams/geyser/geyser-sink.ts';
import { load } from '../app/load-configuration.ts';

let relay: ShredRelay;
let worker: Shreds;
const lines: string[] = [];
const log = createLogger('warn', (line) => lines.push(line));

afterEach(async () => {
  await worker.stop();
  await relay.stop();
});

function collectEntries(hub: DeshredHub): Uint8Array[] {
  const messages: Uint8Array[] = [];
  const sink: GeyserSink = { push: (_, tail) => void messages.push(tail), end: () => {}, lag: () => {} };
  hub.open('SubscribeEntries', sink);
  return messages;
}

it('a worker relays entries of the shred stage', async () => {
  const primary = new DeshredHub();
  relay = await startShredRelay(primary, log);
  worker = openRelayedShreds(relay.address, load(''), log);
  const messages = collectEntries(worker.hub);
  await expect.poll(() => primary.size).toBe(2);
  const entries = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0);
  primary.onBatch({ slot: 7n as Slot, entries, firstShredIndex: 0, endShredIndex: 0, at: 0n });
  await expect.poll(() => messages.length).toBe(1);
  expect(decodeEntryMessage(Buffer.from(messages[0] as Uint8Array))).toMatchObject({ slot: 7n });
  expect(lines).toEqual([]);
});

it('the relay rejects an invalid token', async () => {
  const primary = new DeshredHub();
  relay = await startShredRelay(primary, log);
  worker = openRelayedShreds({ ...relay.address, token: 'another' }, load(''), log);
  await expect.poll(() => lines.filter((line) => line.includes('UNAUTHENTICATED')).length).toBe(2);
  expect(primary.size).toBe(0);
});
