import { Keypair } from '@solana/web3.js';
import { afterEach, describe, expect, it } from 'vitest';
import type { EntryUpdate } from '../../../../src/protocol/geyser/update/entry.ts';
import { addressBytes } from '../../../../src/solana/address.ts';
import { blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import { readEntries } from '../../../../src/solana/entries.ts';
import { type Signature, signatureFromBytes } from '../../../../src/solana/signature.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import { lamports, type Slot } from '../../../../src/solana/units.ts';
import type { LedgerEvent } from '../../../../src/streams/ledger-event.ts';
import { Deshredder } from '../../../../src/upstream/shreds/deshredder.ts';
import { LedgerHaltedError } from '../../src/bank/ledger-state.ts';
import type { LocalNodeOptions, OpenLocalNode } from '../../src/genesis/open.ts';
import { shredVersion } from '../../src/genesis/shred-version.ts';
import { at, Lab, SOL } from './lab.ts';

type Entry = Readonly<{ hash: string; signatures: readonly Signature[] }>;

class Receiver {
  readonly entries = new Map<Slot, Entry[]>();
  readonly completed: Slot[] = [];
  readonly #deshredder: Deshredder;

  constructor(genesis: OpenLocalNode['genesis']) {
    const leader = addressBytes(genesis.identity);
    this.#deshredder = new Deshredder(
      { shredVersion: () => shredVersion(genesis.hash), leaderOf: () => leader, unknownLeader: 'drop' },
      {
        onBatch: ({ slot, entries }) => {
          const read = readEntries(entries) ?? [];
          const seen = this.entries.get(slot) ?? [];
          this.entries.set(slot, [...seen, ...read.map(entryOf)]);
        },
        onSlot: ({ slot, status }) => {
          if (status === 'completed') this.completed.push(slot);
        },
      },
    );
  }

  push(packets: readonly Uint8Array[]): void {
    for (const packet of packets) this.#deshredder.push(packet);
  }

  get stats() {
    return this.#deshredder.stats;
  }

  signaturesIn(slot: Slot): Signature[] {
    return (this.entries.get(slot) ?? []).flatMap(({ signatures }) => signatures);
  }
}

const entryOf = (entry: NonNullable<ReturnType<typeof readEntries>>[number]): Entry => ({
  hash: blockhashFromBytes(entry.hash),
  signatures: entry.transactions.map(({ signature }) => signatureFromBytes(signature)),
});

let lab: Lab;
let sent: (readonly Uint8Array[])[];
let actual: LedgerEvent[];
let course: string[];
afterEach(() => lab.close());

async function open(options: Partial<LocalNodeOptions> = {}): Promise<void> {
  [sent, actual, course] = [[], [], []];
  lab = await Lab.open({
    ticksPerSlot: 4,
    sendShreds: (packets, urgency) => {
      sent.push(packets);
      course.push(urgency === 'now' ? 'entries' : 'rest');
    },
    ...options,
  });
  lab.node.follow((event) => {
    actual.push(event);
    if (event.kind === 'transaction') course.push('transaction');
  });
}

/** The funding is sent as shreds too. */
async function wallet(sol = 10): Promise<Keypair> {
  const keypair = Keypair.generate();
  await lab.node.airdrop(at(keypair.publicKey), lamports(BigInt(sol * SOL)));
  lab.freeze();
  return keypair;
}

const signatureOf = ({ signatures }: Transaction): Signature => signatures[0] as Signature;
const inBlock = (slot: Slot): Signature[] =>
  (lab.node.history.block(slot)?.transactions ?? []).map(({ transaction }) => signatureOf(transaction));
/** Without the vote of the node, which is the first. */
const sentIn = (slot: Slot): Signature[] => inBlock(slot).slice(1);
const entriesOf = (slot: Slot): EntryUpdate[] =>
  actual.flatMap((event) => (event.kind === 'entry' && event.slot === slot ? [event] : []));

function received(packets = sent.flat()): Receiver {
  const receiver = new Receiver(lab.node.genesis);
  receiver.push(packets);
  return receiver;
}

describe('embedded ledger shreds', () => {
  it('contain the entries and transactions of each block in order', async () => {
    await open();
    const from = await wallet();
    const transfers = [1, 2, 3].map((n) => lab.transfer(from, Keypair.generate().publicKey, n * SOL));
    expect(await Promise.all(transfers.map((each) => lab.node.send(each)))).toEqual(Array(3).fill('taken'));
    const { slot, blockhash } = lab.node.freeze();
    const receiver = received();
    expect(receiver.signaturesIn(slot)).toEqual(inBlock(slot));
    expect(sentIn(slot)).toEqual(transfers.map(signatureOf));
    expect(receiver.entries.get(slot)?.map(({ hash }) => hash)).toEqual(
      entriesOf(slot).map(({ hash }) => hash),
    );
    expect(receiver.entries.get(slot)?.at(-1)?.hash).toBe(blockhash);
    expect(receiver.completed).toEqual([1n, 2n]);
    const { version, invalidSignature, equivocation, inconsistent } = receiver.stats.drops;
    expect([version, invalidSignature, equivocation, inconsistent, receiver.stats.brokenChains]).toEqual(
      Array(5).fill(0),
    );
  });

  it('include a transaction rejected during execution; its entry is empty, also after a restart', async () => {
    await open();
    const from = await wallet(1);
    const drain = lab.transfer(from, Keypair.generate().publicKey, SOL - 5000);
    const late = lab.transfer(from, Keypair.generate().publicKey, 1);
    await Promise.all([drain, late].map((each) => lab.node.send(each)));
    const { slot } = lab.node.freeze();
    expect(received().signaturesIn(slot).slice(1)).toEqual([drain, late].map(signatureOf));
    expect(sentIn(slot)).toEqual([signatureOf(drain)]);
    const entries = entriesOf(slot);
    expect(entries.map((each) => [each.executedTransactionCount, each.startingTransactionIndex])).toEqual([
      [1, 0],
      [1, 1],
      ...Array(5).fill([0, 2]),
    ]);
    expect(
      received()
        .entries.get(slot)
        ?.map(({ hash }) => hash),
    ).toEqual(entries.map(({ hash }) => hash));
    await lab.durable();
    await lab.reopen();
    actual = [];
    lab.node.follow((event) => actual.push(event));
    expect(entriesOf(slot)).toEqual(entries);
  });

  it('include a waiting transaction in each slot that retries it', async () => {
    await open({ blockCostMax: 8200n, waitingMaxTransactions: 3 });
    const from = await wallet();
    const transfers = [1, 2, 3, 4, 5].map((n) => lab.transfer(from, Keypair.generate().publicKey, n * SOL));
    const answers = await Promise.all(transfers.map((each) => lab.node.send(each)));
    expect(answers).toEqual(Array(5).fill('taken'));
    lab.freeze(4);
    const slots = [2n, 3n, 4n] as Slot[];
    expect(slots.map(sentIn)).toEqual(
      [transfers.slice(0, 2), transfers.slice(2, 4), transfers.slice(4)].map((each) => each.map(signatureOf)),
    );
    const receiver = received();
    // All were tried in the first slot, in later slots only those that fit.
    expect(slots.map((slot) => receiver.signaturesIn(slot).length)).toEqual([6, 3, 2]);
    for (const slot of slots) {
      expect(receiver.entries.get(slot)?.at(-1)?.hash).toBe(lab.node.history.block(slot)?.blockhash);
    }
  });

  it('of waiting transactions are sent before they run; a halt rejects newer ones', async () => {
    await open({ blockCostMax: 8200n, shredLeadMs: 5 });
    const from = await wallet();
    const transfers = [1, 2, 3].map((n) => lab.transfer(from, Keypair.generate().publicKey, n * SOL));
    await Promise.all(transfers.map((each) => lab.node.send(each)));
    let isBroken = false;
    lab.node.follow((event) => {
      if (isBroken && event.kind === 'transaction' && !event.isVote) throw new Error('nobody listens');
    });
    isBroken = true;
    course = [];
    lab.freeze();
    const late = lab.node.send(lab.transfer(from, Keypair.generate().publicKey, SOL));
    await expect(late).rejects.toThrow(LedgerHaltedError);
    expect(lab.node.failure?.message).toBe('nobody listens');
    // The ticks, the vote, then waiting transactions; nothing else is announced.
    const vote = ['entries', 'transaction', 'rest'];
    expect(course).toEqual(['entries', 'rest', ...vote, 'entries', 'transaction', 'rest']);
  });
});
