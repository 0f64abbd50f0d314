import { Keypair } from '@solana/web3.js';
import { CommitmentLevel, type SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalnetGeyser, openLocalnetGeyser } from '../../../src/app/localnet/localnet-geyser.ts';
import { encodeBase58 } from '../../../src/solana/base58.ts';
import type { Transaction } from '../../../src/solana/transaction/transaction.ts';
import type { Slot } from '../../../src/solana/units.ts';
import {
  connected,
  listen,
  nothing,
  type UpdateCollector,
} from '../../../test/clients/yellowstone-client.ts';
import { Lab, SOL } from './ledger/lab.ts';

/** Geyser stream of an embedded ledger with manual slots. */
let lab: Lab;
let geyser: LocalnetGeyser;
const open = async (): Promise<void> => {
  geyser = await openLocalnetGeyser(lab.node, {
    host: '127.0.0.1',
    ports: [0],
    drainGraceMs: 0,
    log: pino({ level: 'silent' }),
  });
};
beforeEach(async () => {
  lab = await Lab.open({ ticksPerSlot: 2 });
  await open();
});
afterEach(async () => {
  await geyser.close();
  await lab.close();
});

const client = () => connected(`http://127.0.0.1:${geyser.port}`, undefined);
const text = (bytes: Uint8Array | undefined): string => encodeBase58(bytes ?? new Uint8Array());
const signatureOf = ({ signatures }: Transaction): string => signatures[0] ?? '';
const anyTransaction = { accountInclude: [], accountExclude: [], accountRequired: [] };
/** Source: geyser.proto, `SlotStatus`, which the package does not export. */
const [PROCESSED, COMPLETED] = [0, 4];
const all = { account: [], owner: [], filters: [] };

/** Open stream, after its first message. */
async function stream(request: Parameters<typeof listen>[1]): Promise<UpdateCollector<SubscribeUpdate>> {
  const listening = await listen(await client(), request);
  await listening.first(({ ping }) => ping !== undefined);
  await listening.send({ ...request, ping: { id: 7 } });
  await listening.first(({ pong }) => pong?.id === 7);
  return listening;
}

const slotReached = (listening: UpdateCollector<SubscribeUpdate>, slot: Slot, status: number) =>
  listening.first((update) => update.slot?.slot === String(slot) && update.slot.status === status);

describe('published Yellowstone client', () => {
  it('receives a slot in order: bank, content, entries, statuses', async () => {
    const from = lab.wallet();
    const listening = await stream({
      ...nothing(),
      commitment: CommitmentLevel.PROCESSED,
      accounts: { accounts: all },
      slots: { slots: { interslotUpdates: true } },
      transactions: { transactions: anyTransaction },
      transactionsStatus: { statuses: anyTransaction },
      blocksMeta: { meta: {} },
      entry: { entries: {} },
    });
    const paid = lab.transfer(from, Keypair.generate().publicKey, SOL);
    const failed = lab.transfer(from, Keypair.generate().publicKey, 1_000 * SOL);
    for (const each of [paid, failed]) lab.node.submit(each);
    const { slot, blockhash } = lab.node.freeze();
    await slotReached(listening, slot, PROCESSED);
    const of = <Kind>(pick: (update: SubscribeUpdate) => Kind | undefined): Kind[] =>
      listening.updates.flatMap((update) => pick(update) ?? []);
    const transactions = of(({ transaction }) => transaction).filter((each) => each.slot === String(slot));
    expect(transactions.map(({ transaction }) => text(transaction?.signature))).toEqual(
      [paid, failed].map(signatureOf),
    );
    expect(transactions.map(({ transaction }) => transaction?.meta?.err === undefined)).toEqual([
      true,
      false,
    ]);
    expect(of(({ transactionStatus }) => transactionStatus?.index)).toEqual(
      expect.arrayContaining(['0', '1']),
    );
    const written = of(({ account }) => account).filter((each) => each.slot === String(slot));
    const writer = written.find(({ account }) => text(account?.pubkey) === from.publicKey.toBase58());
    expect(text(writer?.account?.txnSignature)).toBe(signatureOf(paid));
    const entries = of(({ entry }) => entry).filter((each) => each.slot === String(slot));
    expect(entries.map((each) => Number(each.executedTransactionCount))).toEqual([1, 1, 0, 0]);
    expect(text(entries.at(-1)?.hash)).toBe(blockhash);
    const [meta] = of(({ blockMeta }) => blockMeta).filter((each) => each.slot === String(slot));
    expect(meta).toMatchObject({ blockhash, executedTransactionCount: '2', entriesCount: '4' });
    const statuses = of(({ slot: received }) => received).filter((each) => each.slot === String(slot));
    // The bank was created before the client connected.
    expect(statuses.map(({ status }) => status).slice(-2)).toEqual([COMPLETED, PROCESSED]);
    expect(statuses.at(-1)?.parent).toBe(String(slot - 1n));
    listening.close();
  });

  it('can replay slots from before a restart', async () => {
    const from = lab.wallet();
    const paid = lab.transfer(from, Keypair.generate().publicKey, SOL);
    lab.node.submit(paid);
    const { slot } = lab.node.freeze();
    await lab.durable();
    await geyser.close();
    await lab.reopen();
    await open();
    const listening = await listen(await client(), {
      ...nothing(),
      commitment: CommitmentLevel.PROCESSED,
      slots: { slots: {} },
      transactions: { transactions: anyTransaction },
      fromSlot: String(slot),
    });
    await slotReached(listening, slot, PROCESSED);
    const found = listening.updates.find(({ transaction }) => transaction !== undefined)?.transaction;
    expect([found?.slot, text(found?.transaction?.signature)]).toEqual([String(slot), signatureOf(paid)]);
    listening.close();
    const yellowstone = await client();
    expect(await yellowstone.subscribeReplayInfo()).toMatchObject({ firstAvailable: '0' });
    expect(await yellowstone.getSlot(CommitmentLevel.PROCESSED)).toMatchObject({ slot: String(slot) });
    expect(await yellowstone.getBlockHeight(CommitmentLevel.FINALIZED)).toMatchObject({ blockHeight: '0' });
    const latest = await yellowstone.getLatestBlockhash(CommitmentLevel.PROCESSED);
    expect(latest).toMatchObject({ slot: String(slot), blockhash: lab.blockhash });
    const valid = await yellowstone.isBlockhashValid(lab.blockhash, CommitmentLevel.PROCESSED);
    expect(valid).toMatchObject({ valid: true });
    expect(JSON.parse((await yellowstone.getVersion()).version)).toMatchObject({
      version: { package: 'solway' },
    });
    expect(await yellowstone.ping(3)).toMatchObject({ count: 3 });
  });

  it('can replay slots finalized long before a restart', async () => {
    const paid = lab.transfer(lab.wallet(), Keypair.generate().publicKey, SOL);
    lab.node.submit(paid);
    const { slot } = lab.node.freeze();
    lab.freeze(60);
    await lab.durable();
    await geyser.close();
    await lab.reopen();
    await open();
    const listening = await listen(await client(), {
      ...nothing(),
      commitment: CommitmentLevel.FINALIZED,
      blocksMeta: { metas: {} },
      transactions: { transactions: anyTransaction },
      fromSlot: String(slot),
    });
    await listening.first(({ blockMeta }) => blockMeta?.slot === String(slot + 5n));
    const found = listening.updates.find(({ transaction }) => transaction !== undefined)?.transaction;
    expect([found?.slot, text(found?.transaction?.signature)]).toEqual([String(slot), signatureOf(paid)]);
    const metas = listening.updates.flatMap(({ blockMeta }) => (blockMeta ? [BigInt(blockMeta.slot)] : []));
    expect(metas.slice(0, 6)).toEqual([0n, 1n, 2n, 3n, 4n, 5n].map((nth) => slot + nth));
    listening.close();
  });
});
