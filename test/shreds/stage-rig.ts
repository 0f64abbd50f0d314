import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { addressFromBytes } from '../../src/solana/address.ts';
import { DeshredHub } from '../../src/streams/deshred/deshred-hub.ts';
import { ShredStage, type ShredStageOptions } from '../../src/upstream/shreds/shred-stage.ts';
import type { ShredsConfig } from '../../src/upstream/shreds/shreds-config.ts';
import { MessageSink } from './generated-transactions.ts';

export const noShreds: ShredsConfig = { udp: null, entries: [], deshred: [], shredVersion: null };

/** Any free loopback port, without a sender list. */
export const UDP = { host: '127.0.0.1', port: 0, senders: [] };

type ReaderScript = Readonly<{
  /** Leader of slots 0 to 99. */
  leader: Uint8Array;
  shredVersion: number;
}>;

export function scriptedReader({ leader, shredVersion }: ReaderScript) {
  const requested: string[] = [];
  const responses: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
    getEpochInfo: () => ({ absoluteSlot: 50, epoch: 0, slotIndex: 50, slotsInEpoch: 100 }),
    getLeaderSchedule: ([first]) =>
      first === 0n ? { [addressFromBytes(leader)]: [...Array(100).keys()] } : null,
    getClusterNodes: () => [{ shredVersion }],
    getMultipleAccounts: ([addresses]) => ({
      context: { slot: 50 },
      value: (addresses as string[]).map(() => null),
    }),
  };
  const request: ShredStageOptions['reader']['request'] = async (method, params) => {
    requested.push(method);
    return Buffer.from(JSON.stringify(responses[method]?.(params as readonly unknown[]) ?? null));
  };
  return { request, requested };
}

/** A stage with a hub, and a stream of each method that subscribes to everything. */
export async function startStage(options: Partial<ShredStageOptions> & Pick<ShredStageOptions, 'reader'>) {
  const hub = new DeshredHub();
  const log = createLogger('silent', () => {});
  const stage = new ShredStage({ config: noShreds, log, ...options }, hub);
  onTestFinished(() => stage.close());
  await stage.start();
  const sinks = { subscribe: new MessageSink(), deshred: new MessageSink(), entries: new MessageSink() };
  const slots = new Map([['slots', { interslotUpdates: true }]]);
  const everything = new Map([['all', {}]]);
  await hub.open('Subscribe', sinks.subscribe).request({ transactions: everything });
  await hub.open('SubscribeDeshred', sinks.deshred).request({ deshredTransactions: everything, slots });
  hub.open('SubscribeEntries', sinks.entries);
  return { stage, hub, ...sinks };
}

export async function sendPackets(stage: ShredStage, packets: readonly Uint8Array[]): Promise<void> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = stage.udpAddress!;
  for (const packet of packets) {
    await new Promise<void>((resolve, reject) =>
      socket.send(packet, port, '127.0.0.1', (error) => (error === null ? resolve() : reject(error))),
    );
  }
  const closed = once(socket, 'close');
  socket.close();
  await closed;
}

export async function ticksUntil(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}
