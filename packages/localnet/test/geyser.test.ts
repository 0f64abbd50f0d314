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
const anyTransaction = { vote: false, accountInclude: [], accountExclude: [], accountRequired: [] };
/** Source: geyser.proto, `SlotStatus`, which the package does not export. */
const PROCESSED = 0;

const slotReached = (listening: UpdateCollector<SubscribeUpdate>, slot: Slot, status: number) =>
  listening.first((update) => update.slot?.slot === String(slot) && update.slot.status === status);

describe('published Yellowstone client', () => {
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
});
