import type { SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { encodeTimestamp } from '../../src/protocol/geyser/encode/envelope.ts';
import type { Update } from '../../src/protocol/geyser/subscribe-update.ts';
import type { BlockUpdate } from '../../src/protocol/geyser/update/block.ts';
import type { SlotStatus } from '../../src/protocol/geyser/update/slot.ts';
import { GrpcServer } from '../../src/servers/grpc/server.ts';
import { Keypair } from '../../src/solana/ed25519.ts';
import { programs } from '../../src/solana/programs.ts';
import { lamports } from '../../src/solana/units.ts';
import { UnauthenticatedHandler } from '../../src/streams/geyser/geyser-handler.ts';
import { GeyserHub } from '../../src/streams/geyser/geyser-hub.ts';
import { connected, listen, nothing, type UpdateCollector } from '../clients/yellowstone-client.ts';
import { rawOf } from '../geyser/re-encode.ts';
import { readShape, shapeOf } from '../geyser/shapes.ts';
import { blockFiles, blockMetaOf, blockOf, hasBlocks, readBlockFile } from './recorded-block.ts';

/** Real blocks through hub, channels, server and published client. */
const AT = encodeTimestamp(1_700_000_000_123n);
const levels = ['processed', 'confirmed', 'finalized'] as const;

/** Adds an account write, which recordings lack. */
function withAccount(block: BlockUpdate): BlockUpdate {
  const account = {
    lamports: lamports(block.slot),
    data: Uint8Array.from({ length: 300 }, (_, i) => i),
    owner: programs.token,
    executable: false,
    rentEpoch: 2n ** 64n - 1n,
  };
  const { address } = Keypair.fromSeed(new Uint8Array(32).fill(5));
  const signature = block.transactions[0]!.signature;
  return { ...block, accounts: [{ address, account, writeVersion: 7n, signature }], updatedAccountCount: 1 };
}

const files = hasBlocks ? blockFiles : [];
const blocks = files.map((file) => withAccount(blockOf(readBlockFile(file), file)));
/** Expected updates besides statuses. */
const updatesOf = (block: BlockUpdate): readonly Update[] => [
  ...block.accounts.map((write) => ({
    kind: 'account' as const,
    slot: block.slot,
    isStartup: false,
    write,
  })),
  ...block.transactions.map((info) => ({ kind: 'transaction' as const, slot: block.slot, info })),
  block,
  blockMetaOf(block),
];

/** The client returns Buffers. */
function withBareBytes<T>(value: T): T {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (value instanceof Uint8Array) return Uint8Array.from(value) as T;
  if (Array.isArray(value)) return value.map(withBareBytes) as T;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withBareBytes(part)])) as T;
}

describe.skipIf(!hasBlocks)('recorded blocks (../shared/data, blocks), streamed', () => {
  const hub = new GeyserHub();
  const server = new GrpcServer({
    handler: new UnauthenticatedHandler(hub),
    health: () => true,
    log: createLogger('silent', () => {}),
  });
  const streams = new Map<string, UpdateCollector<SubscribeUpdate>>();

  const sendStatus = ({ slot, parentSlot }: BlockUpdate, status: SlotStatus): void =>
    hub.onUpdate(rawOf({ kind: 'slot', slot, parent: parentSlot, status, deadError: null }, AT));

  beforeAll(async () => {
    const { port } = await server.listen();
    const client = await connected(`http://127.0.0.1:${port}`, undefined);
    for (const [commitment, level] of levels.entries()) {
      const stream = await listen(client, {
        ...nothing(),
        commitment,
        accounts: { a: { account: [], owner: [], filters: [] } },
        transactions: { t: { accountInclude: [], accountExclude: [], accountRequired: [] } },
        blocks: { b: { accountInclude: [], includeTransactions: true, includeAccounts: true } },
        blocksMeta: { m: {} },
        slots: { s: { filterByCommitment: true } },
      });
      streams.set(level, stream);
    }
    for (const stream of streams.values()) {
      await stream.send({ ...nothing(), ping: { id: 5 } });
      await stream.first(({ pong }) => pong?.id === 5);
    }
    for (const block of blocks) {
      sendStatus(block, 'createdBank');
      for (const update of updatesOf(block)) if (update.kind !== 'block') hub.onUpdate(rawOf(update, AT));
      for (const level of levels) sendStatus(block, level);
    }
    const last = String(blocks.at(-1)!.slot);
    for (const stream of streams.values()) await stream.first(({ slot }) => slot?.slot === last);
  });
  afterAll(async () => {
    for (const stream of streams.values()) stream.close();
    await server.close();
  });

  it.each(levels)('arrive at %s with the original values', (level) => {
    const { updates } = streams.get(level)!;
    for (const block of blocks) {
      const slot = String(block.slot);
      const ofSlot = updates.filter((update) =>
        [update.account, update.transaction, update.block, update.blockMeta].some(
          (part) => part?.slot === slot,
        ),
      );
      const wanted = updatesOf(block);
      expect(ofSlot).toHaveLength(wanted.length);
      wanted.forEach((update, at) => {
        expect(readShape(update.kind, withBareBytes(ofSlot[at]!))).toEqual(shapeOf(update));
      });
    }
  });
});
