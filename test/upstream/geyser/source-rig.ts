import { onTestFinished } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import type { RawUpdate } from '../../../src/protocol/geyser/raw-update.ts';
import type { Block } from '../../../src/solana/block.ts';
import { signatureBytes } from '../../../src/solana/signature.ts';
import { type Slot, slot as slotOf } from '../../../src/solana/units.ts';
import type { GeyserSourceOptions } from '../../../src/upstream/geyser/geyser-source-options.ts';
import { YellowstoneSource } from '../../../src/upstream/geyser/yellowstone-source.ts';
import { executed, hash as hashOf } from '../../streams/ledger-script.ts';
import { GeyserServer, type GeyserStream, type UpdateMessage } from '../feeds/geyser-server.ts';

import { signatureOf, transfer } from '../feeds/geyser-updates.ts';

const hash = hashOf(5);
const { meta } = executed({ meta: { logMessages: [], computeUnitsConsumed: null } });

/** A block as returned by getBlock, with the numbered transfers. */
export const blockOf = (slot: number, ...numbers: number[]): Block => ({
  slot: slotOf(slot),
  parentSlot: slotOf(slot - 1),
  blockhash: hash,
  previousBlockhash: hash,
  blockHeight: null,
  blockTime: 1_700_000_000n,
  transactions: numbers.map((number) => ({ transaction: transfer(number), meta })),
  rewards: [],
});

const transferNames = new Map(
  Array.from({ length: 20 }, (_, number) => {
    const bytes = signatureBytes(signatureOf(transfer(number)));
    return [Buffer.from(bytes).toString('hex'), number] as const;
  }),
);

export function describeUpdate(update: RawUpdate): string {
  switch (update.kind) {
    case 'slot':
      return `${update.slot} ${update.status}`;
    case 'transaction':
      return `${update.slot} transfer ${transferNames.get(Buffer.from(update.signature).toString('hex'))}`;
    case 'account':
      return `${update.slot} account ${update.lamports}`;
    case 'entry':
      return `${update.slot} entry ${update.index}`;
    case 'blockMeta':
      return update.updatedAccountCount
        ? `${update.slot} meta ${update.updatedAccountCount}`
        : `${update.slot} meta`;
  }
}

const quick: Partial<GeyserSourceOptions> = {
  requestDelayMs: 1,
  ackTimeoutMs: 300,
  openTimeoutMs: 2_000,
  reconnectMs: 5,
  reconnectMaxMs: 20,
  fillTimeoutMs: 2_000,
  backfillTimeoutMs: 2_000,
  replayMarginSlots: 2,
};

export class SourceRig {
  readonly log: string[] = [];
  readonly emitted: string[] = [];
  readonly lost: string[] = [];
  readonly blocks = new Map<number, Block>();
  readonly source: YellowstoneSource;
  #waiting: (() => void)[] = [];

  constructor(servers: readonly GeyserServer[], options: Partial<GeyserSourceOptions> = {}) {
    this.source = new YellowstoneSource({
      nodes: servers.map(({ url }, index) => ({
        name: `node-${index}`,
        url: 'http://127.0.0.1:1',
        grpc: url,
        headers: { 'x-token': 'a-secret-token' },
      })),
      options: { ...quick, ...options },
      log: createLogger('debug', (line) => this.log.push(line)),
      reader: {
        slots: async (from, to) => this.#slots(from, to),
        eachBlock: async (slots, _signal, onBlock) => {
          for (const slot of slots) await onBlock(this.blocks.get(Number(slot))!);
        },
      },
    });
    this.source.addListener({
      onUpdate: (update) => {
        this.emitted.push(describeUpdate(update));
        this.#wake();
      },
      onReset: () => this.lost.push('all'),
      onLost: (from, to, kinds) => {
        this.lost.push(`${from}-${to} ${[...kinds].sort().join(' ')}`);
        this.#wake();
      },
    });
    this.source.start();
  }

  #slots(from: Slot, to: Slot): Slot[] {
    const available = [...this.blocks.keys()].filter((slot) => slot >= from && slot <= to);
    if (available.length === 0) throw new Error('there is nobody to ask');
    return available.map((slot) => slotOf(slot));
  }

  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  untilEmitted(line: string): Promise<void> {
    return this.until(() => this.emitted.includes(line));
  }

  of(slot: number): string[] {
    return this.emitted
      .filter((line) => line.startsWith(`${slot} `))
      .map((line) => line.slice(`${slot} `.length));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

const codec = (await import('@triton-one/yellowstone-grpc')).SubscribeUpdate;

export function sendOn(stream: GeyserStream, updates: readonly UpdateMessage[]): void {
  for (const update of updates) stream.write(codec.fromPartial(update as never));
}

/** A source with started servers; all are closed after the test. */
export async function startSource(count: number, options: Partial<GeyserSourceOptions> = {}) {
  const servers = await Promise.all(Array.from({ length: count }, () => GeyserServer.start()));
  const rig = new SourceRig(servers, options);
  onTestFinished(() => {
    rig.source.close();
    for (const server of servers) server.stop();
  });
  await Promise.all(servers.map((server) => server.until(() => server.pings.length > 0)));
  return { rig, servers, server: servers[0]!, other: servers[1]! };
}
