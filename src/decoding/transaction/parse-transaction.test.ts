import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson, writeJson } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { encodeBase58 } from '../../solana/base58.ts';
import { programs } from '../../solana/programs.ts';
import { EVENT_CALL, eventDiscriminator } from './events/layout.ts';
import { parsedTransaction, parseEffects } from './parse-transaction.ts';
import { readExecutedTransaction } from './read-executed-transaction.ts';

const key = (fill: number): Address => encodeBase58(new Uint8Array(32).fill(fill)) as Address;
const [PAYER, FRIEND, PURSE, THEIRS, MINT, STRANGER] = [1, 2, 3, 4, 5, 6].map(key) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];
const JUPITER = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';

type Members = { [name: string]: JsonValue };

const parsedAs = (programId: string, type: string, info: Members): Members => ({
  programId,
  parsed: { type, info },
});
const payment = (lamports: JsonValue) =>
  parsedAs(programs.system, 'transfer', { source: PAYER, destination: FRIEND, lamports });
const transfer = (amount: JsonValue, program: string = programs.token) =>
  parsedAs(program, 'transfer', { source: PURSE, destination: THEIRS, authority: PAYER, amount });
const memo = (text: string): Members => ({ programId: programs.memoV3, parsed: text });
const unknown = (programId: string = STRANGER): Members => ({ programId, accounts: [], data: '' });
const approval = parsedAs(programs.token, 'approve', {
  source: PURSE,
  delegate: FRIEND,
  owner: PAYER,
  amount: '1',
});

const balanceOf = (accountIndex: number, amount: string, owner: Address): Members => ({
  ...{ accountIndex, mint: MINT, owner, programId: programs.token },
  uiTokenAmount: { amount, decimals: 2 },
});

const resultOf = (instructions: Members[], meta: Members = {}, more: Members = {}): JsonValue => ({
  ...{ slot: 7, blockTime: 1_700_000_000 },
  transaction: {
    signatures: [encodeBase58(new Uint8Array(64).fill(9))],
    message: { accountKeys: [PAYER, PURSE, THEIRS].map((pubkey) => ({ pubkey })), instructions },
  },
  meta: { err: null, fee: 5001, ...meta },
  ...more,
});

const balances: Members = {
  preTokenBalances: [balanceOf(1, '900', PAYER)],
  postTokenBalances: [balanceOf(1, '650', PAYER), balanceOf(2, '250', FRIEND)],
};

function shown(result: JsonValue) {
  const transaction = readExecutedTransaction(result);
  if (transaction === null) throw new Error('no transaction');
  const parsed = parsedTransaction(transaction, parseEffects(transaction), new Map());
  return parseJson(writeJson(parsed as never)) as unknown as typeof parsed;
}

const typesOf = (instructions: Members[], meta: Members = balances) =>
  shown(resultOf(instructions, meta)).actions.map(({ type, ix_index }) => `${ix_index} ${type}`);

describe('actions', () => {
  it('list program actions, then token transfers, then SOL transfers', () => {
    const instructions = [
      payment(1),
      transfer('1'),
      unknown(),
      payment(2),
      memo('a'),
      transfer('2'),
      memo('b'),
    ];
    expect(typesOf(instructions)).toEqual([
      '2 UNKNOWN',
      '4 MEMO',
      '6 MEMO',
      '1 TOKEN_TRANSFER',
      '5 TOKEN_TRANSFER',
      '0 SOL_TRANSFER',
      '3 SOL_TRANSFER',
    ]);
  });

  it('of unknown programs have no info and no program name', () => {
    const innerInstructions = [{ index: 0, instructions: [unknown(key(7))] }];
    expect(shown(resultOf([unknown()], { innerInstructions })).actions).toEqual([
      { info: {}, source_protocol: { address: STRANGER, name: '' }, type: 'UNKNOWN', ix_index: 0 },
      {
        ...{ info: {}, source_protocol: { address: key(7), name: '' }, type: 'UNKNOWN' },
        ...{ parent_protocol: STRANGER, ix_index: 1 },
      },
    ]);
  });

  it.each([
    [[unknown(programs.computeBudget)]],
    [[parsedAs(programs.ata, 'create', { account: PURSE, mint: MINT, wallet: PAYER })]],
    [[parsedAs(programs.system, 'createAccount', { source: PAYER, newAccount: PURSE, lamports: 5 })]],
    [[parsedAs(programs.system, 'advanceNonce', { nonceAccount: PURSE })]],
    [[parsedAs(programs.token, 'initializeAccount3', { account: PURSE, mint: MINT, owner: PAYER })]],
    [[parsedAs(programs.token2022, 'initializeImmutableOwner', { account: PURSE })]],
    [[parsedAs(programs.token, 'syncNative', { account: PURSE })]],
    [[parsedAs(programs.token, 'closeAccount', { account: PURSE, destination: PAYER, owner: PAYER })]],
  ])('omit account setup and cleanup: %j', (instructions) => {
    expect(typesOf(instructions)).toEqual([]);
  });

  it.each([
    [payment(null)],
    [payment(1.5)],
    [parsedAs(programs.system, 'transfer', { source: 'x', destination: FRIEND, lamports: 1 })],
    [transfer('one')],
    [parsedAs(programs.token, 'burn', { account: PURSE, amount: '1' })],
    [parsedAs(programs.token, 'mintTo', { mint: MINT, account: 5, amount: '1' })],
    [unknown(programs.token)],
    [{ ...unknown(programs.memoV1), data: encodeBase58(Uint8Array.of(255)) }],
  ])('are UNKNOWN for an invalid instruction: %j', (instruction) => {
    expect(typesOf([instruction])).toEqual(['0 UNKNOWN']);
  });

  it('are null where the transaction lacks a value', () => {
    expect(shown(resultOf([transfer('250')])).actions[0]?.info).toEqual({
      ...{ amount: null, amount_raw: 250, receiver: null, sender: PAYER },
      ...{ receiver_associated_account: THEIRS, token_address: null },
    });
  });

  it('name the token owner rather than the delegate', () => {
    const info = { source: PURSE, destination: THEIRS, authority: STRANGER, amount: '250' };
    const [transfer] = shown(resultOf([parsedAs(programs.token, 'transfer', info)], balances)).actions;
    expect(transfer?.info).toMatchObject({ sender: PAYER, receiver: FRIEND });
    const shared = { ...info, authority: undefined, multisigAuthority: STRANGER } as never;
    const [unowned] = shown(resultOf([parsedAs(programs.token, 'transfer', shared)])).actions;
    expect(unowned?.info).toMatchObject({ sender: STRANGER, receiver: null });
  });

  it('treat a single indivisible unit as an NFT only if no account owns more', () => {
    const single = (amount: string): Members => ({
      ...{ accountIndex: 1, mint: MINT, owner: PAYER, uiTokenAmount: { amount, decimals: 0 } },
    });
    const typeOf = (moved: string) =>
      shown(
        resultOf([transfer(moved)], { preTokenBalances: [single('1')], postTokenBalances: [single('0')] }),
      ).type;
    expect(['1', '0', '2'].map(typeOf)).toEqual(['NFT_TRANSFER', 'TOKEN_TRANSFER', 'TOKEN_TRANSFER']);
  });

  it('keep every digit of raw amounts', () => {
    const [transfer] = shown(resultOf([payment(2n ** 64n - 1n)])).actions;
    expect(transfer?.info).toMatchObject({ amount_raw: 18_446_744_073_709_551_615n });
  });
});

describe('parsed transaction', () => {
  it('has the members in interface order', () => {
    const result = resultOf([transfer('250')], { ...balances, err: null });
    const parsed = shown(result);
    expect(Object.keys(parsed).join()).toBe(
      'timestamp,fee,fee_payer,signers,signatures,protocol,type,status,token_balance_changes,actions,events',
    );
    expect(parsed).toMatchObject({
      ...{ timestamp: '2023-11-14T22:13:20.000Z', fee: 0.000005001, fee_payer: PAYER, signers: [PAYER] },
      ...{ protocol: { address: programs.token, name: 'Token Program' }, type: 'TOKEN_TRANSFER' },
      ...{ status: 'Success', events: [] },
    });
  });

  it('lists only changed token balances', () => {
    const { token_balance_changes } = shown(
      resultOf([], {
        preTokenBalances: [balanceOf(0, '5', PAYER), balanceOf(1, '900', PAYER)],
        postTokenBalances: [balanceOf(0, '5', PAYER), balanceOf(2, '250', FRIEND)],
      }),
    );
    const common = { decimals: 2, mint: MINT };
    expect(token_balance_changes).toEqual([
      { address: THEIRS, ...common, change_amount: 250, post_balance: 250, pre_balance: 0, owner: FRIEND },
      { address: PURSE, ...common, change_amount: -900, post_balance: 0, pre_balance: 900, owner: PAYER },
    ]);
    expect(Object.keys(token_balance_changes[0] ?? {}).join()).toBe(
      'address,decimals,change_amount,post_balance,pre_balance,mint,owner',
    );
  });

  it('takes its type from the first action that the interface knows', () => {
    const { type, protocol } = shown(resultOf([unknown(), approval, transfer('1'), payment(1)], balances));
    expect([type, protocol.name]).toEqual(['TOKEN_TRANSFER', 'Token Program']);
    expect(shown(resultOf([unknown(), approval], balances)).type).toBe('APPROVE');
  });

  it.each([
    [[unknown()], STRANGER],
    [[unknown(programs.computeBudget), parsedAs(programs.ata, 'create', {})], programs.ata],
    [[unknown(programs.computeBudget)], programs.computeBudget],
    [[], ''],
  ])('is UNKNOWN with the first program when nothing is recognized: %#', (instructions, address) => {
    expect(shown(resultOf(instructions))).toMatchObject({ type: 'UNKNOWN', protocol: { address } });
  });

  it('reports failure without events and swaps', () => {
    const fee = Buffer.concat([
      Buffer.from(EVENT_CALL + eventDiscriminator('FeeEvent'), 'hex'),
      new Uint8Array(72).fill(1),
    ]);
    const event = { programId: JUPITER, accounts: [], data: encodeBase58(fee) };
    const innerInstructions = [{ index: 0, instructions: [transfer('250'), event] }];
    const result = (err: JsonValue) => resultOf([unknown(JUPITER)], { ...balances, innerInstructions, err });
    expect(shown(result(null)).events).toMatchObject([{ name: 'FeeEvent' }]);
    expect(shown(result({ InstructionError: [0, 'Custom'] }))).toMatchObject({
      ...{ status: 'Fail', events: [], type: 'TOKEN_TRANSFER' },
    });
  });

  it.each([null, 2n ** 63n, -1e15, 1.5, 'now'])('has no timestamp for a block time of %s', (blockTime) => {
    expect(shown(resultOf([payment(1)], {}, { blockTime })).timestamp).toBeNull();
  });
});
