import { SubscribeUpdateDeshred } from '@triton-one/yellowstone-grpc';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { encodeEntryMessage } from '../../src/protocol/shredstream/entries.ts';
import { slot as slotOf } from '../../src/solana/units.ts';
import type { DeshredSlot, DeshredTransaction, EntryBatch } from '../../src/streams/deshred/deshred-event.ts';
import { DeshredClient, EntriesClient } from '../../src/upstream/shreds/shred-clients.ts';
import { shredLimits } from '../../src/upstream/shreds/shreds-config.ts';
import { generateEntries, generateWire } from './generated-transactions.ts';
import { ScriptedServer } from './grpc-servers.ts';

const TOKEN = 'a-secret-token-of-a-server';

async function scene(limits: Partial<typeof shredLimits> = {}) {
  const server = await ScriptedServer.start();
  const batches: EntryBatch[] = [];
  const transactions: DeshredTransaction[] = [];
  const slots: DeshredSlot[] = [];
  const lines: string[] = [];
  let waiting: (() => void)[] = [];
  const stored =
    <T>(list: T[]) =>
    (one: T): void => {
      list.push(one);
      for (const wake of waiting.splice(0)) wake();
    };
  const until = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const options = {
    server: { name: 'scripted', url: server.url, headers: { 'x-token': TOKEN } },
    limits: { ...shredLimits, reconnectMs: 5, reconnectMaxMs: 20, ...limits },
    log: createLogger('warn', stored(lines)),
    listener: { onBatch: stored(batches), onTransaction: stored(transactions), onSlot: stored(slots) },
  };
  const entries = new EntriesClient(options);
  const deshred = new DeshredClient(options);
  onTestFinished(() => {
    waiting = [];
    entries.close();
    deshred.close();
    server.stop();
  });
  return { server, entries, deshred, batches, transactions, slots, lines, until };
}

const entryMessage = (slot: number, name: number): Buffer =>
  Buffer.from(encodeEntryMessage(slotOf(slot), generateEntries(generateWire({ name }))));

describe('EntriesClient', () => {
  it('emits the batches of a ShredStream proxy', async () => {
    const { server, entries, batches, until } = await scene();
    entries.start();
    await server.until(() => server.entriesCalls.length === 1);
    server.entriesCalls[0]!.write(entryMessage(9, 1));
    server.entriesCalls[0]!.write(entryMessage(10, 2));
    await until(() => batches.length === 2);
    expect(server.tokens).toEqual([TOKEN]);
    expect(batches.map(({ slot }) => slot)).toEqual([9n, 10n]);
    expect(Buffer.from(batches[1]!.entries).equals(generateEntries(generateWire({ name: 2 })))).toBe(true);
    expect([batches[0]!.firstShredIndex, batches[0]!.endShredIndex]).toEqual([0, 0]);
    expect(Math.abs(Number(batches[0]!.at) - Date.now())).toBeLessThan(60_000);
  });

  it('reconnects when the stream ends and logs it without secrets', async () => {
    const { server, entries, batches, lines, until } = await scene();
    entries.start();
    await server.until(() => server.entriesCalls.length === 1);
    server.entriesCalls[0]!.emit('error', { code: 14, details: `go away, ${TOKEN}` });
    await server.until(() => server.entriesCalls.length === 2);
    server.entriesCalls[1]!.write(entryMessage(11, 3));
    await until(() => batches.length === 1);
    expect(lines.join()).toContain('UNAVAILABLE');
    expect(lines.join()).not.toContain(TOKEN);
  });

  it('leaves a server without new slots', async () => {
    const { server, entries } = await scene({ stallMs: 200 });
    entries.start();
    await server.until(() => server.entriesCalls.length === 1);
    const [first] = server.entriesCalls;
    const same = setInterval(() => first!.write(entryMessage(9, 1)), 20);
    onTestFinished(() => clearInterval(same));
    await server.until(() => server.entriesCalls.length === 2);
    expect(first!.cancelled).toBe(true);
  });
});

describe('DeshredClient', () => {
  it('emits slots and answers pings', async () => {
    const { server, deshred, slots, until } = await scene();
    deshred.start();
    await server.until(() => server.requests.length === 1);
    const [call] = server.deshredCalls;
    call!.write(SubscribeUpdateDeshred.fromPartial({ ping: {} }));
    call!.write(SubscribeUpdateDeshred.fromPartial({ slot: { slot: '9', parent: '8', status: 3 } }));
    call!.write(SubscribeUpdateDeshred.fromPartial({ slot: { slot: '9', status: 6, deadError: 'why' } }));
    await until(() => slots.length === 2);
    await server.until(() => server.requests.length === 2);
    expect(server.requests[1]!.ping).toEqual({ id: 1 });
    expect(slots[0]).toMatchObject({ slot: 9n, parent: 8n, status: 'firstShredReceived' });
    expect(slots[1]).toMatchObject({ slot: 9n, parent: null, status: 'dead', deadError: 'why' });
  });
});
