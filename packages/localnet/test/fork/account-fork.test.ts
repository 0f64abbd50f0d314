import { AddressLookupTableAccount, Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../../src/base/bytes.ts';
import { type Address, address, addressBytes } from '../../../../src/solana/address.ts';
import { Keypair as Signer } from '../../../../src/solana/ed25519.ts';
import { findProgramAddress } from '../../../../src/solana/program-address.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { lamports, U64_MAX } from '../../../../src/solana/units.ts';
import type { LedgerEvent } from '../../../../src/streams/ledger-event.ts';
import { newBaseAccounts } from '../../src/bank/vm.ts';
import { ForkIndex } from '../../src/fork/fork-index.ts';
import { RemoteAccounts } from '../../src/fork/remote-accounts.ts';
import { Lab } from '../ledger/lab.ts';
import { sign, transfer } from '../signed-transactions.ts';
import { account, key, mint, tokenAccount } from '../support/accounts.ts';
import { type Call, callsOn, confirmed } from '../test-methods/test-rig.ts';
import { openRemoteCluster, openScripted, type RemoteCluster } from './remote-cluster.ts';

const SOL = 1_000_000_000n;
const PLAIN = Array.from({ length: 150 }, (_, i) => {
  return [key(101 + i), account(key(1), Uint8Array.of(i))] as const;
});
const [[ADDRESS, ACCOUNT]] = PLAIN as [(typeof PLAIN)[number]];
const ABSENT = key(99);
const MINT = key(10);
const rich = Signer.generate();
const RICH = [
  rich.address,
  { ...account(programs.system, new Uint8Array()), lamports: lamports(5n * SOL) },
] as const;
const associated = (owner: Address): Address =>
  findProgramAddress([owner, programs.token, MINT].map(addressBytes), programs.ata).address;
const HOLDING = [associated(rich.address), tokenAccount(MINT, rich.address, 500n)] as const;
const OTHER_HOLDING = [key(12), tokenAccount(MINT, key(13), 0n)] as const;
const LISTED = [key(54), account(programs.system, new Uint8Array())] as const;
const META = new ByteWriter().u32(1).u64(U64_MAX).u64(300_000_000n).u8(0).u8(0).zeros(34);
const TABLE = [
  key(53),
  account(programs.addressLookupTable, META.bytes(addressBytes(LISTED[0])).finish()),
] as const;
/** A copy of the Memo program. */
const PROGRAM = key(50);
const MEMO = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
const elf = newBaseAccounts().find(([each]) => each === MEMO)?.[1].data ?? new Uint8Array();

let remote: RemoteCluster;
beforeAll(async () => {
  const accounts = [...PLAIN, RICH, [MINT, mint(1_000n, 2)] as const, HOLDING, OTHER_HOLDING, LISTED, TABLE];
  remote = await openRemoteCluster(accounts, [[PROGRAM, elf, null]]);
});
afterAll(() => remote.close());

let lab: Lab;
let call: Call;
async function openFork(url = remote.url): Promise<void> {
  lab = await Lab.open({ fork: new RemoteAccounts(url, { attempts: 1 }) });
  lab.freeze(2);
  call = callsOn(lab.node);
}
async function reopen(): Promise<void> {
  await lab.reopen({ fork: new RemoteAccounts(remote.url, { attempts: 1 }) });
  call = callsOn(lab.node);
}
afterEach(() => lab.close());

/** Addresses that a piece of work reads from the cluster. */
async function readsOf(work: () => Promise<unknown>): Promise<readonly (readonly string[])[]> {
  const from = remote.reads.length;
  await work();
  return remote.reads.slice(from);
}
const dataOf = async (at: Address, config: object = { encoding: 'base64' }) =>
  (await call('getAccountInfo', at, config)).value?.data[0];
const expected = Buffer.from(ACCOUNT.data).toString('base64');

describe('an account of the forked cluster', () => {
  it('is read once, for all commitments, also across a restart', async () => {
    await openFork();
    expect(await readsOf(() => dataOf(ADDRESS))).toEqual([[ADDRESS]]);
    const again = await readsOf(async () => {
      for (const commitment of ['processed', 'confirmed', 'finalized']) {
        expect(await dataOf(ADDRESS, { commitment, encoding: 'base64' })).toBe(expected);
      }
      lab.freeze();
      await reopen();
      expect(await dataOf(ADDRESS)).toBe(expected);
    });
    expect(again).toEqual([]);
  });

  it('is absent for good once it was not found', async () => {
    await openFork();
    const reads = await readsOf(async () => {
      expect(await dataOf(ABSENT)).toBe(undefined);
      lab.freeze();
      await reopen();
      expect(await dataOf(ABSENT)).toBe(undefined);
    });
    expect(reads).toEqual([[ABSENT]]);
  });

  it('is read by one call for concurrent reads, with at most 100 addresses', async () => {
    await openFork();
    const addresses = PLAIN.map(([each]) => each);
    const reads = await readsOf(() =>
      Promise.all([
        call('getMultipleAccounts', addresses.slice(0, 90)),
        call('getMultipleAccounts', addresses.slice(50, 140)),
        call('getBalance', addresses[149]),
      ]),
    );
    expect(reads.map(({ length }) => length)).toEqual([100, 41]);
  });

  it('is an event of the open slot', async () => {
    await openFork();
    const events: LedgerEvent[] = [];
    const unfollow = lab.node.follow((event) => events.push(event));
    await dataOf(ADDRESS);
    unfollow();
    const reported = events.filter((event) => event.kind === 'account' && event.address === ADDRESS);
    expect(reported).toMatchObject([
      { slot: lab.node.bank('processed').slot + 1n, account: ACCOUNT, signature: null },
    ]);
  });

  it('is not used where the ledger has or had its own', async () => {
    await openFork();
    await call('surfnet_setAccount', ADDRESS, { data: 'ff' });
    expect(await call('getAccountInfo', ADDRESS, confirmed)).toMatchObject({
      value: { data: ['/w==', 'base64'], owner: ACCOUNT.owner, lamports: Number(ACCOUNT.lamports) },
    });
    await call('surfnet_setAccount', ADDRESS, { lamports: 0 });
    await reopen();
    const reads = await readsOf(async () => expect(await dataOf(ADDRESS, confirmed)).toBe(undefined));
    expect(reads).toEqual([]);
  });

  it('is read again after a reset', async () => {
    await openFork();
    await call('surfnet_setAccount', ADDRESS, { data: 'ff' });
    await call('surfnet_resetAccount', ADDRESS);
    const reads = await readsOf(async () => expect(await dataOf(ADDRESS, confirmed)).toBe(expected));
    expect(reads).toEqual([[ADDRESS]]);
  });

  it('stays if it was read after the snapshot that is restored', async () => {
    await openFork();
    const id = await call('solway_snapshot');
    await dataOf(ADDRESS);
    await call('solway_restore', id);
    expect(await dataOf(ADDRESS, confirmed)).toBe(expected);
  });

  it('gets an airdrop on top of its balance', async () => {
    await openFork();
    await call('requestAirdrop', RICH[0], Number(SOL));
    lab.freeze();
    expect(lab.node.bank('processed').account(RICH[0])?.lamports).toBe(6n * SOL);
  });

  it('comes with its mint and, for a wallet, with its associated token account', async () => {
    await openFork();
    const parsed = { commitment: 'confirmed', encoding: 'jsonParsed' };
    const { value } = await call('getTokenAccountsByOwner', rich.address, { mint: MINT }, parsed);
    expect(value).toMatchObject([
      { pubkey: HOLDING[0], account: { data: { parsed: { info: { mint: MINT } } } } },
    ]);
    const balance = await call('getTokenAccountBalance', OTHER_HOLDING[0], { commitment: 'confirmed' });
    expect(balance.value).toMatchObject({ decimals: 2 });
  });
});

describe('a transaction on a fork', () => {
  it('reads payer, lookup tables and their addresses, and the code of programs', async () => {
    await openFork();
    const payer = Keypair.fromSecretKey(Uint8Array.from(JSON.parse(rich.toJson())));
    const known = new AddressLookupTableAccount({
      key: new PublicKey(TABLE[0]),
      state: {
        deactivationSlot: U64_MAX,
        lastExtendedSlot: 0,
        lastExtendedSlotStartIndex: 0,
        addresses: [new PublicKey(LISTED[0])],
      },
    });
    const instructions = [
      lab.payment(payer, { publicKey: new PublicKey(LISTED[0]) } as Keypair),
      new TransactionInstruction({ programId: new PublicKey(PROGRAM), keys: [], data: Buffer.from('hi') }),
    ];
    const { wire } = lab.versioned([payer], instructions, [known]);
    const signature = await call('sendTransaction', Buffer.from(wire).toString('base64'), {
      encoding: 'base64',
      preflightCommitment: 'processed',
    });
    lab.freeze(2);
    const config = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
    const { meta } = await call('getTransaction', signature, config);
    expect(meta.err).toBe(null);
    expect(meta.logMessages).toContain(`Program ${PROGRAM} success`);
    expect(lab.node.bank('processed').account(LISTED[0])?.lamports).toBe(LISTED[1].lamports + SOL);
  });

  it('is simulated and profiled on accounts of the cluster', async () => {
    await openFork();
    const { blockhash } = lab.node.bank('confirmed');
    const { base64 } = sign(rich, [transfer(rich.address, ABSENT, SOL)], blockhash);
    const config = { encoding: 'base64', commitment: 'confirmed' };
    expect((await call('simulateTransaction', base64, config)).value.err).toBe(null);
    expect((await call('surfnet_profileTransaction', base64)).value.transactionProfile.errorMessage).toBe(
      null,
    );
  });
});

describe('a failed read', () => {
  it('is an error with the address, and is repeated by the next read', async () => {
    const server = await openScripted(
      (response) => response.writeHead(500).end(),
      (response) => response.end('{"result":{"value":[null]}}'),
    );
    await openFork(server.url);
    expect(await call('getBalance', ADDRESS)).toEqual({
      code: -32603,
      message: `Fork: cannot read ${ADDRESS} from ${server.host}: HTTP status 500`,
    });
    expect((await call('getBalance', ADDRESS)).value).toBe(0);
    server.close();
  });
});

describe('the index of a fork', () => {
  it('loses the addresses of slots that were lost', async () => {
    await openFork();
    const index = new ForkIndex(':memory:');
    index.add([key(1), key(2)], 7);
    index.add([key(2), key(3)], 8);
    expect(index.addedAfter(7)).toEqual([key(3)]);
    index.truncateAfter(7);
    expect([key(1), key(2), key(3)].map((each) => index.has(each))).toEqual([true, true, false]);
    expect(index.size).toBe(2);
    index.close();
  });
});

describe('a fork in use', () => {
  it('reads a token account of the cluster, changes its balance, and transfers from it', async () => {
    await openFork();
    const before = await call('getTokenAccountBalance', HOLDING[0]);
    expect(before.value.amount).toBe('500');
    await call('surfnet_setTokenAccount', rich.address, MINT, { amount: 1_000_000 });
    const data = Buffer.concat([Buffer.from([3]), new ByteWriter().u64(999_000n).finish()]);
    const accounts = [
      { address: HOLDING[0], signer: false, writable: true },
      { address: OTHER_HOLDING[0], signer: false, writable: true },
      { address: rich.address, signer: true, writable: false },
    ];
    const { blockhash } = lab.node.bank('confirmed');
    const { base64, signature } = sign(rich, [{ programId: programs.token, accounts, data }], blockhash);
    const config = { encoding: 'base64', preflightCommitment: 'confirmed' };
    expect(await call('sendTransaction', base64, config)).toBe(signature);
    lab.freeze(2);
    const { meta } = await call('getTransaction', signature, { commitment: 'confirmed' });
    expect(meta.postTokenBalances.map((each: { uiTokenAmount: object }) => each.uiTokenAmount)).toMatchObject(
      [
        { amount: '1000', decimals: 2 },
        { amount: '999000', decimals: 2 },
      ],
    );
    await reopen();
    const after = await call('getTokenAccountBalance', HOLDING[0], { commitment: 'confirmed' });
    expect(after.value.amount).toBe('1000');
  });
});
