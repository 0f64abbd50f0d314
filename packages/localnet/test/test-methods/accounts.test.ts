import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../../src/base/bytes.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { addressBytes } from '../../../../src/solana/address.ts';
import { findProgramAddress } from '../../../../src/solana/program-address.ts';
import { nativeMint, programs, sysvars } from '../../../../src/solana/programs.ts';
import type { LedgerEvent } from '../../../../src/streams/ledger-event.ts';
import { Lab } from '../ledger/lab.ts';
import { account, key, mint, tokenAccount } from '../support/accounts.ts';
import { type Call, callsOn, confirmed } from './test-rig.ts';

const MINT = key(10);
const MINT_2022 = key(11);
const OWNER = key(20);
const HOLDING = key(21);
const CODE = key(31);
const PROGRAM = [
  key(30),
  {
    ...account(programs.bpfUpgradeableLoader, new ByteWriter().u32(2).bytes(addressBytes(CODE)).finish()),
    executable: true,
  },
] as const;
const OWNED = key(32);
const RENT_OF_3_BYTES = 911_760;

let lab: Lab;
let call: Call;
beforeAll(async () => {
  lab = await Lab.open({
    accounts: [
      [MINT, mint(1_000n, 2)],
      [MINT_2022, mint(1_000n, 2, programs.token2022)],
      [HOLDING, tokenAccount(MINT, OWNER, 5n)],
      PROGRAM,
      [CODE, account(programs.bpfUpgradeableLoader, new Uint8Array(50))],
      [OWNED, account(PROGRAM[0], Uint8Array.of(1))],
    ],
  });
  call = callsOn(lab.node);
});
afterAll(() => lab.close());

const infoOf = async (address: Address) => (await call('getAccountInfo', address, confirmed)).value;
const associated = (mintAddress: Address, program: Address = programs.token): Address =>
  findProgramAddress([OWNER, program, mintAddress].map(addressBytes), programs.ata).address;
const jsonParsed = { commitment: 'confirmed', encoding: 'jsonParsed' };

describe('surfnet_setAccount', () => {
  const ADDRESS = key(40);

  it('creates an account that reads at confirmed see at once', async () => {
    const update = { lamports: 7, data: '0aFF', owner: key(1), executable: false, rentEpoch: 3 };
    const { context, value } = await call('surfnet_setAccount', ADDRESS, update);
    expect(value).toBe(null);
    expect(context.slot).toBe(Number(lab.node.bank('confirmed').slot));
    const data = [Buffer.from([10, 255]).toString('base64'), 'base64'];
    expect(await infoOf(ADDRESS)).toEqual({ ...update, data, space: 2 });
  });

  it('leaves absent fields as they are', async () => {
    const before = await infoOf(ADDRESS);
    await call('surfnet_setAccount', ADDRESS, { lamports: 9 });
    expect(await infoOf(ADDRESS)).toEqual({ ...before, lamports: 9 });
  });

  it('makes a new account without balance exempt from rent', async () => {
    await call('surfnet_setAccount', key(41), { data: '010203' });
    expect(await infoOf(key(41))).toMatchObject({ lamports: RENT_OF_3_BYTES, owner: programs.system });
  });

  it('removes an account whose balance is 0', async () => {
    await call('surfnet_setAccount', ADDRESS, { lamports: 0 });
    expect(await infoOf(ADDRESS)).toBe(null);
  });

  it.each([
    [[ADDRESS, { data: '0' }], 'Invalid hex data provided'],
    [[ADDRESS, { data: 'xy' }], 'Invalid hex data provided'],
    [['x', {}], 'Invalid param'],
    [[ADDRESS, { owner: 'x' }], 'Invalid param'],
    [[sysvars.clock, { lamports: 1 }], 'use surfnet_timeTravel'],
  ])('rejects %j', async (params, text) => {
    expect(await call('surfnet_setAccount', ...params)).toMatchObject({
      code: -32602,
      message: expect.stringContaining(text),
    });
  });
});

describe('a changed account', () => {
  const ADDRESS = key(45);

  it('is an event without signature of a slot, and in the state after a restart', async () => {
    const events: LedgerEvent[] = [];
    const unfollow = lab.node.follow((event) => events.push(event));
    const { context } = await call('surfnet_setAccount', ADDRESS, { lamports: 70 });
    unfollow();
    const changes = events.filter((event) => event.kind === 'account' && event.address === ADDRESS);
    expect(changes).toMatchObject([
      { slot: BigInt(context.slot), signature: null, account: { lamports: 70n } },
    ]);
    const before = await infoOf(ADDRESS);
    await lab.reopen();
    call = callsOn(lab.node);
    expect(await infoOf(ADDRESS)).toEqual(before);
  });

  it('is used by the next transaction', async () => {
    const payer = lab.wallet(0.1);
    await call('surfnet_setAccount', payer.publicKey.toBase58(), { lamports: 5_000_000_000 });
    expect(lab.node.submit(lab.transfer(payer, payer.publicKey, 4_000_000_000))).toBe(null);
  });
});

describe('surfnet_setTokenAccount', () => {
  it('creates the associated token account of a wallet', async () => {
    await call('surfnet_setTokenAccount', OWNER, MINT, { amount: 1234 });
    const balance = await call('getTokenAccountBalance', associated(MINT), { commitment: 'confirmed' });
    expect(balance.value).toMatchObject({ amount: '1234', decimals: 2 });
  });

  it('changes the given fields only; "null" removes an address', async () => {
    const address = associated(MINT);
    const parsed = async () => (await call('getAccountInfo', address, jsonParsed)).value.data.parsed.info;
    const update = { delegate: key(2), delegatedAmount: 5, state: 'frozen', closeAuthority: key(3) };
    await call('surfnet_setTokenAccount', OWNER, MINT, update);
    expect(await parsed()).toMatchObject({
      ...{ tokenAmount: { amount: '1234' }, state: 'frozen', delegate: key(2), closeAuthority: key(3) },
      delegatedAmount: { amount: '5' },
    });
    await call('surfnet_setTokenAccount', OWNER, MINT, { delegate: 'null', state: 'initialized' });
    const info = await parsed();
    expect([info.delegate, info.state, info.closeAuthority]).toEqual([undefined, 'initialized', key(3)]);
  });

  it('takes the token program from the mint, with its extensions', async () => {
    await call('surfnet_setTokenAccount', OWNER, MINT_2022, { amount: 8 });
    const { value } = await call('getAccountInfo', associated(MINT_2022, programs.token2022), jsonParsed);
    expect(value.data.parsed.info).toMatchObject({
      tokenAmount: { amount: '8' },
      extensions: [{ extension: 'immutableOwner' }],
    });
  });

  it('gives wrapped SOL its lamports', async () => {
    await call('surfnet_setTokenAccount', OWNER, nativeMint, { amount: 1_000 });
    const { lamports, data } = (await call('getAccountInfo', associated(nativeMint), jsonParsed)).value;
    expect(lamports).toBe(2_039_280 + 1_000);
    expect(data.parsed.info).toMatchObject({ isNative: true, tokenAmount: { amount: '1000' } });
  });

  it.each([
    [[OWNER, key(60), { amount: 1 }], 'could not find mint'],
    [[OWNER, MINT, { state: 'melted' }], 'Invalid token account state melted'],
    [[OWNER, MINT, {}, key(1)], 'unrecognized Token program id'],
    [[OWNER, HOLDING, { amount: 1 }], 'cannot create token account'],
  ])('rejects %j', async (params, text) => {
    expect(await call('surfnet_setTokenAccount', ...params)).toMatchObject({
      code: -32602,
      message: expect.stringContaining(text),
    });
  });
});

describe('surfnet_resetAccount', () => {
  it('removes an account, the code of a program, and owned accounts on request', async () => {
    await call('surfnet_resetAccount', PROGRAM[0]);
    expect([await infoOf(PROGRAM[0]), await infoOf(CODE)]).toEqual([null, null]);
    expect(await infoOf(OWNED)).not.toBe(null);
    await call('surfnet_resetAccount', PROGRAM[0], { includeOwnedAccounts: true });
    expect(await infoOf(OWNED)).toBe(null);
  });
});

describe('solway_restore', () => {
  it('undoes all changes since a snapshot, any number of times', async () => {
    const [changed, removed, added] = [key(70), key(71), key(72)];
    await call('surfnet_setAccount', changed, { lamports: 1 });
    await call('surfnet_setAccount', removed, { lamports: 2 });
    const id = await call('solway_snapshot');
    for (let round = 0; round < 2; round++) {
      await call('surfnet_setAccount', changed, { lamports: 9 });
      await call('surfnet_setAccount', removed, { lamports: 0 });
      await call('surfnet_setAccount', added, { lamports: 3 });
      const { absoluteSlot } = await call('solway_restore', id);
      expect(absoluteSlot).toBe(Number(lab.node.bank('processed').slot));
      expect(await infoOf(changed)).toMatchObject({ lamports: 1 });
      expect(await infoOf(removed)).toMatchObject({ lamports: 2 });
      expect(await infoOf(added)).toBe(null);
    }
  });

  it('knows the 16 newest snapshots', async () => {
    const first = await call('solway_snapshot');
    for (let more = 0; more < 16; more++) await call('solway_snapshot');
    expect(await call('solway_restore', first)).toMatchObject({ code: -32602 });
    expect(await call('solway_restore', first + 1)).toMatchObject({ epoch: 0 });
  });
});
