import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeJson } from '../../../../src/base/json.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import { SLOTS_PER_EPOCH_MAX } from '../../src/genesis/epoch-length.ts';
import { openLocalNode } from '../../src/genesis/open.ts';
import { at, Lab, SOL } from './lab.ts';

let lab: Lab;
beforeEach(async () => {
  lab = await Lab.open();
});
afterEach(() => lab.close());

const logFiles = () => readdirSync(join(lab.dir, 'log')).map((name) => join(lab.dir, 'log', name));

/** Everything visible to readers, as text. */
function picture(): string {
  const describe = (accounts: Iterable<readonly [string, Account]>) =>
    [...accounts]
      .map(([address, { data, ...rest }]) => [address, Buffer.from(data).toString('base64'), rest] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));
  const bank = lab.node.bank('processed');
  const blocks = [];
  for (let slot = 0n; slot <= bank.slot; slot++) {
    const block = lab.node.history.block(slot as never);
    blocks.push(
      block && {
        ...block,
        transactions: block.transactions.map(({ transaction, meta }) => [
          transaction.signatures,
          Buffer.from(transaction.wire).toString('base64'),
          JSON.parse(writeJson(meta as never)),
        ]),
      },
    );
  }
  return writeJson({
    slot: bank.slot,
    blockhash: bank.blockhash,
    clock: bank.clock,
    count: bank.transactionCount,
    capitalization: bank.capitalization,
    accounts: describe(bank.accounts()),
    confirmed: describe(lab.node.bank('confirmed').accounts()),
    finalized: describe(lab.node.bank('finalized').accounts()),
    blocks,
  } as never);
}

async function busySlots(count: number): Promise<Keypair[]> {
  const wallets = [lab.wallet(100), lab.wallet(100)] as const;
  for (let i = 0; i < count; i++) {
    const to = Keypair.generate();
    lab.node.submit(lab.transfer(wallets[0], to.publicKey, SOL / 100 + i));
    lab.node.submit(lab.transfer(wallets[1], wallets[0].publicKey, 1000 * SOL + i));
    lab.freeze(1 + (i % 3));
    if (i % 8 === 0) await lab.durable();
  }
  return [...wallets];
}

describe('reopened ledger', () => {
  it('still rejects processed transactions and knows their status', async () => {
    const [from] = await busySlots(2);
    const transaction = lab.transfer(from!, Keypair.generate().publicKey, SOL);
    expect(lab.node.submit(transaction)).toBeNull();
    lab.freeze();
    const status = lab.node.recentStatus(transaction.signatures[0]!);
    await lab.reopen();
    expect(lab.node.submit(transaction)).toBe('AlreadyProcessed');
    expect(lab.node.recentStatus(transaction.signatures[0]!)).toEqual(status);
    expect(status).toMatchObject({ err: null });
  });

  it('keeps its genesis despite options until reset', async () => {
    const { hash, identity, faucet } = lab.node.genesis;
    await lab.reopen({ slotsPerEpoch: 64 });
    expect(lab.node.genesis).toMatchObject({ hash, identity, faucet });
    expect(lab.node.genesis.epochSchedule.slotsPerEpoch).toBe(432_000n);
    writeFileSync(join(lab.dir, 'notes.txt'), 'not part of the ledger');
    await lab.reopen({ slotsPerEpoch: 64, reset: true });
    expect(lab.node.genesis.hash).not.toBe(hash);
    expect(lab.node.genesis.epochSchedule.slotsPerEpoch).toBe(64n);
    expect(lab.node.bank('processed').slot).toBe(0n);
    expect(existsSync(join(lab.dir, 'notes.txt'))).toBe(true);
  });

  it('writes keypair files in Solana format, readable by the owner only', () => {
    for (const [file, key] of [
      ['faucet-keypair.json', lab.node.genesis.faucet],
      ['validator-keypair.json', lab.node.genesis.identity],
      ['vote-account-keypair.json', lab.node.genesis.voteAccount],
      ['stake-account-keypair.json', lab.node.genesis.stakeAccount],
    ] as const) {
      const path = join(lab.dir, file);
      const keypair = Keypair.fromSecretKey(Uint8Array.from(JSON.parse(readFileSync(path, 'utf8'))));
      expect(at(keypair.publicKey)).toBe(key);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
  });
});

describe('log', () => {
  it('loses only the record being written', async () => {
    await busySlots(5);
    const before = picture();
    const tip = lab.node.bank('processed').slot;
    await lab.node.stop();
    const [file] = logFiles();
    for (const tear of [1, 11, 13]) {
      const whole = statSync(file!).size;
      appendFileSync(file!, readFileSync(file!).subarray(0, tear));
      await lab.reopen();
      expect(lab.node.bank('processed').slot).toBe(tip);
      expect(picture()).toBe(before);
      await lab.node.stop();
      expect(statSync(file!).size).toBe(whole);
    }
  });

  it('reports damage in the middle and how to recover', async () => {
    await busySlots(5);
    await lab.node.stop();
    const [file] = logFiles();
    const fd = openSync(file!, 'r+');
    writeSync(fd, Buffer.from([0xff]), 0, 1, Math.floor(statSync(file!).size / 2));
    closeSync(fd);
    const opening = openLocalNode({ ledgerDir: lab.dir, manual: true });
    await expect(opening).rejects.toThrow(
      /000000000000\.log is corrupt at byte \d+: restore .* or start with --reset/,
    );
    lab.node = await openLocalNode({ ledgerDir: lab.dir, manual: true, reset: true });
  });

  it('rebuilds a lost or damaged index', async () => {
    await busySlots(8);
    await lab.durable();
    const before = picture();
    await lab.node.stop();
    rmSync(join(lab.dir, 'history.db'));
    await lab.reopen();
    expect(picture()).toBe(before);
    await lab.node.stop();
    writeFileSync(
      join(lab.dir, 'history.db'),
      'no database at all, but long enough to be looked at'.repeat(100),
    );
    await lab.reopen();
    expect(picture()).toBe(before);
  });
});

describe('snapshot', () => {
  const segments = { segmentSlotsMax: 50, segmentMaxBytes: 1 << 30 };

  it('plus the later log equals the whole log', async () => {
    await lab.reopen({ limits: segments });
    await busySlots(70);
    await lab.durable();
    const before = picture();
    await lab.node.stop();
    const snapshots = readdirSync(lab.dir).filter((name) => name.endsWith('.bin'));
    expect(snapshots.length).toBeGreaterThan(1);
    expect(logFiles().length).toBeGreaterThan(2);
    lab.node = await openLocalNode({ ledgerDir: lab.dir, manual: true });
    expect(picture()).toBe(before);
  });

  it('falls back to the previous one when damaged', async () => {
    await lab.reopen({ limits: segments });
    await busySlots(70);
    await lab.durable();
    const before = picture();
    await lab.node.stop();
    const newest = readdirSync(lab.dir)
      .filter((name) => name.endsWith('.bin'))
      .sort()
      .at(-1)!;
    const bytes = readFileSync(join(lab.dir, newest));
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(join(lab.dir, newest), bytes);
    lab.node = await openLocalNode({ ledgerDir: lab.dir, manual: true });
    expect(picture()).toBe(before);
  });
});

describe('ledger directory', () => {
  it('is not created for epochs too long for getLeaderSchedule', async () => {
    const ledgerDir = join(lab.dir, 'long');
    const slotsPerEpoch = SLOTS_PER_EPOCH_MAX + 1;
    await expect(openLocalNode({ ledgerDir, slotsPerEpoch, manual: true })).rejects.toThrow(
      'slots per epoch must be from 1 to 8192000, not 8192001',
    );
    expect(existsSync(ledgerDir)).toBe(false);
  });

  it('resumes with a finalized tip after a machine crash', async () => {
    lab.freeze(50);
    await lab.node.stop();
    const lock = JSON.stringify({ pid: process.pid, started: '1', boot: 'another boot' });
    writeFileSync(join(lab.dir, 'ledger.lock'), lock);
    lab.node = await openLocalNode({ ledgerDir: lab.dir, manual: true });
    expect(lab.node.bank('finalized').slot).toBe(50n);
    expect(lab.node.bank('confirmed').slot).toBe(50n);
    lab.freeze(40);
    await lab.durable();
    expect(lab.node.bank('finalized').slot).toBe(59n);
  });
});
