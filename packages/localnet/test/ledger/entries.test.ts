import { createHash } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EntryUpdate } from '../../../../src/protocol/geyser/update/entry.ts';
import { type Blockhash, blockhashBytes, blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import { type Signature, signatureBytes } from '../../../../src/solana/signature.ts';
import type { Slot } from '../../../../src/solana/units.ts';
import type { LedgerEvent } from '../../../../src/streams/ledger-event.ts';
import { at, Lab, SOL } from './lab.ts';

const TICKS = 3;
let lab: Lab;
let received: LedgerEvent[];
beforeEach(async () => {
  lab = await Lab.open({ ticksPerSlot: TICKS });
  received = [];
});
afterEach(() => lab.close());

const follow = (): (() => void) => lab.node.follow((event) => received.push(event));
const entriesIn = (at: Slot): EntryUpdate[] =>
  received.flatMap((event) => (event.kind === 'entry' && event.slot === at ? [event] : []));
const blockIn = (at: Slot) => {
  const block = lab.node.history.block(at);
  if (block === null) throw new Error(`slot ${at} has no block`);
  return block;
};

const sha256 = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();
const byte = (value: number): Uint8Array => Uint8Array.of(value);

/** Independent implementation of the signatures root for one or two signatures. */
function mixinOf(signatures: readonly Signature[]): Buffer {
  const leaves = signatures.map((signature) => sha256(byte(0), signatureBytes(signature)));
  const [first, second] = leaves as [Buffer, Buffer | undefined];
  return second === undefined ? first : sha256(byte(1), first, second);
}

/** Expected entry hashes of a block. */
function chain(before: Blockhash, transactions: readonly (readonly Signature[])[]): Blockhash[] {
  let hash: Uint8Array = blockhashBytes(before);
  const links = [...transactions.map(mixinOf), ...Array.from({ length: TICKS }, () => new Uint8Array())];
  return links.map((mixin) => {
    hash = sha256(hash, mixin);
    return blockhashFromBytes(hash);
  });
}

describe('slot entries', () => {
  it('form a chain from the parent blockhash over all signatures to the blockhash', () => {
    const [from, other, to] = [lab.wallet(), lab.wallet(), Keypair.generate()];
    follow();
    lab.node.submit(lab.transfer(from, to.publicKey, SOL));
    lab.node.submit(lab.legacy([from, other], [lab.payment(other, to), lab.payment(from, to)]));
    const { slot: frozen } = lab.node.freeze();
    const block = blockIn(frozen);
    const entries = entriesIn(frozen);
    const signatures = block.transactions.map(({ transaction }) => transaction.signatures);
    expect(signatures.map((each) => each.length)).toEqual([2, 1, 2]);
    expect(entries.map(({ hash }) => hash)).toEqual(chain(block.previousBlockhash, signatures));
    expect(entries.at(-1)?.hash).toBe(block.blockhash);
    expect(
      entries.map((each) => [
        each.index,
        each.numHashes,
        each.executedTransactionCount,
        each.startingTransactionIndex,
      ]),
    ).toEqual([
      [0, 1n, 1, 0],
      [1, 1n, 1, 1],
      [2, 1n, 1, 2],
      [3, 1n, 0, 3],
      [4, 1n, 0, 3],
      [5, 1n, 0, 3],
    ]);
  });
});

describe('account write', () => {
  it('names its transaction and has an increasing version', () => {
    const [from, to] = [lab.wallet(), Keypair.generate()];
    follow();
    const transactions = [1, 2].map((n) => lab.transfer(from, to.publicKey, n * SOL));
    for (const each of transactions) lab.node.submit(each);
    lab.freeze(2);
    const signatures = transactions.map((each) => each.signatures[0]);
    const writes = received.filter((event) => event.kind === 'account');
    const written = (key: Keypair) =>
      writes.filter(({ address }) => address === at(key.publicKey)).map(({ signature }) => signature);
    // The first one is the airdrop in the previous slot.
    expect(written(from).slice(1)).toEqual(signatures);
    expect(written(to)).toEqual(signatures);
    const versions = writes.map(({ writeVersion }) => writeVersion);
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => (a < b ? -1 : 1)));
  });

  it('outside of transactions names none: leader fee, clock', () => {
    const from = lab.wallet();
    follow();
    lab.node.submit(lab.transfer(from, Keypair.generate().publicKey, SOL));
    const { slot: frozen } = lab.node.freeze();
    const own = received.filter((event) => event.kind === 'account' && event.signature === null);
    expect(own.filter((event) => 'slot' in event && event.slot === frozen)).toHaveLength(5);
    expect(own).toContainEqual(expect.objectContaining({ address: lab.node.genesis.identity }));
  });
});

it('is replayed from the newest rooted slot on request', () => {
  lab.freeze(2);
  lab.node.follow((event) => received.push(event), 'root');
  const statuses = received.flatMap((event) =>
    event.kind !== 'entry' && event.kind !== 'account' && 'slot' in event && event.slot === 0n
      ? [event.kind]
      : [],
  );
  expect(statuses).toEqual(['created', 'completed', 'frozen', 'processed', 'confirmed', 'rooted']);
  expect(received.some((event) => event.kind === 'block' && event.block.slot === 0n)).toBe(true);
});
