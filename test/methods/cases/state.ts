import { expect } from 'vitest';
import { encodeBase58 } from '../../../src/solana/base58.ts';
import { programs } from '../../../src/solana/programs.ts';
import { answer, arity, badAddress, context, notYet, refusal, strictConfig } from '../case-families.ts';
import { invalid, type MethodCase } from '../method-case.ts';

/** Accounts, tokens and transactions: reference solana-json-rpc.md §1.2, §1.5 and §1.10. */
const MISSING = '"So11111111111111111111111111111111111111119"';
const TOKENS = `{"programId":"${programs.token}"}`;
const base64 = { encoding: 'base64' } as const;
const value = (expected: unknown) => (result: unknown) => expect(result).toMatchObject({ value: expected });

const memcmp = (offset: number, bytes: string) => ({ memcmp: { offset, bytes } });

const accounts: readonly MethodCase[] = [
  answer(
    'getAccountInfo',
    'an account',
    value({ data: ['', 'base64'], owner: programs.system }),
    (ledger) => [ledger.wallet, base64],
  ),
  ...badAddress('getAccountInfo'),
  ...arity('getAccountInfo', 1, 2),
  ...context('getAccountInfo', MISSING),
  answer('getBalance', '0 if unknown', value(0), `[${MISSING}]`),
  ...badAddress('getBalance'),
  ...arity('getBalance', 1, 2),
  ...context('getBalance', MISSING),
  answer('getMultipleAccounts', 'null if unknown', value([{ space: 0 }, null]), ({ wallet }) => [
    [wallet, 'So11111111111111111111111111111111111111119'],
  ]),
  ...arity('getMultipleAccounts', 1, 2),
  ...context('getMultipleAccounts', '[]'),
  answer('getProgramAccounts', 'the context', value([]), `[${MISSING},{"withContext":true}]`),
  answer(
    'getProgramAccounts',
    'nothing for a mint filter of one byte with a full owner filter',
    (result) => expect(result).toEqual([]),
    ({ wallet }) => [
      programs.token,
      { ...base64, filters: [{ dataSize: 165 }, memcmp(32, wallet), memcmp(0, '2')] },
    ],
  ),
  ...badAddress('getProgramAccounts'),
  ...arity('getProgramAccounts', 1, 2),
  ...context('getProgramAccounts', MISSING),
  answer('getMinimumBalanceForRentExemption', 'the minimum', (rent) => expect(rent).toBe(890_880), '[0]'),
  ...arity('getMinimumBalanceForRentExemption', 1, 2),
  ...strictConfig('getMinimumBalanceForRentExemption', '0'),
];

const tokens: readonly MethodCase[] = [
  answer('getTokenAccountBalance', 'an amount', value({ amount: '150', uiAmount: 1.5 }), ({ token }) => [
    token.account,
  ]),
  answer('getTokenSupply', 'an amount', value({ amount: '150', decimals: 2 }), ({ token }) => [token.mint]),
  answer('getTokenLargestAccounts', 'the largest', value([{ amount: '150' }]), ({ token }) => [token.mint]),
  ...['getTokenAccountBalance', 'getTokenSupply', 'getTokenLargestAccounts'].flatMap((method) => [
    ...badAddress(method),
    ...arity(method, 1, 2),
    ...strictConfig(method, '"0"'),
  ]),
  answer('getTokenAccountsByOwner', 'accounts of a mint', value([{ account: { space: 165 } }]), (ledger) => [
    ...[ledger.wallet, { mint: ledger.token.mint }, base64],
  ]),
  answer('getTokenAccountsByDelegate', 'all accounts', value([{ account: { space: 165 } }]), ({ token }) => [
    ...[token.delegate, { programId: programs.token }, base64],
  ]),
  ...['getTokenAccountsByOwner', 'getTokenAccountsByDelegate'].flatMap((method) => [
    ...badAddress(method, `,${TOKENS}`),
    ...arity(method, 2, 3),
    ...context(method, `${MISSING},${TOKENS}`),
  ]),
];

/** A message with one key, no instructions and optionally a lookup of these indexes in a missing table. */
const messageOf = (version: number | null, signers: number, readOnly: number, lookup?: number[]): Buffer =>
  Buffer.concat([
    Buffer.from([...(version === null ? [] : [version]), signers, readOnly, 0, 1]),
    Buffer.alloc(32 + 32, 1),
    Buffer.of(0),
    version === null ? Buffer.alloc(0) : Buffer.of(lookup ? 1 : 0),
    lookup ? Buffer.concat([Buffer.alloc(32, 1), Buffer.of(lookup.length, ...lookup, 0)]) : Buffer.alloc(0),
  ]);
const unsigned = (message: Buffer): Buffer => Buffer.concat([Buffer.of(1), Buffer.alloc(64, 2), message]);

const FAILED = 'failed to deserialize solana_transaction::versioned::VersionedTransaction: ';

const undecodable: readonly (readonly [name: string, bytes: Buffer, message: string])[] = [
  ['truncated signatures', Buffer.of(2, 0), `${FAILED}Attempting to read 128 bytes`],
  ['255 signatures', Buffer.of(0xff), `${FAILED}Custom error: invalid transaction discriminator`],
  [
    'an oversized version 1',
    Buffer.concat([Buffer.of(0x81), Buffer.alloc(4100)]),
    'base64 encoded solana_transaction::versioned::VersionedTransaction too large: 5468 bytes ' +
      '(max: encoded/raw 5464/4096)',
  ],
  [
    'a read-only payer',
    unsigned(messageOf(null, 1, 1)),
    'invalid transaction: Transaction failed to sanitize accounts offsets correctly',
  ],
  [
    'a missing lookup table',
    unsigned(messageOf(0x80, 1, 0, [1])),
    "invalid transaction: Transaction loads an address table account that doesn't exist",
  ],
];

const badMessages: readonly (readonly [name: string, message: Buffer, fault: string])[] = [
  ['version 0 with a read-only payer', messageOf(0x80, 1, 1), 'invalid value'],
  ['version 0 with an empty lookup', messageOf(0x80, 1, 0, []), 'invalid value'],
  [
    'a missing lookup table',
    messageOf(0x80, 1, 0, [1]),
    'Attempted to lookup addresses from a table that does not exist',
  ],
  ['a legacy message with a read-only payer', messageOf(null, 1, 1), 'index out of bounds'],
  ['more signers than keys', messageOf(0x80, 2, 0), 'index out of bounds'],
];

const transactions: readonly MethodCase[] = [
  answer('getFeeForMessage', 'lamports', value(5000), ({ unsent }) => [unsent.message]),
  ...badMessages.map(([name, message, fault]) =>
    refusal('getFeeForMessage', name, invalid(`invalid transaction message: ${fault}`), () => [
      message.toString('base64'),
    ]),
  ),
  notYet('getFeeForMessage', ({ unsent }) => [unsent.message, { minContextSlot: 2 ** 50 }]),
  ...arity('getFeeForMessage', 1, 2),
  answer('simulateTransaction', 'success', value({ err: null, unitsConsumed: 150 }), ({ unsent }) => [
    ...[unsent.transaction, base64],
  ]),
  answer('simulateTransaction', 'SignatureFailure', value({ err: 'SignatureFailure' }), ({ unsent }) => [
    ...[unsent.forged, { ...base64, sigVerify: true }],
  ]),
  answer('simulateTransaction', 'no error if unverified', value({ err: null }), ({ unsent }) => [
    ...[unsent.forged, base64],
  ]),
  {
    ...answer(
      'sendTransaction',
      'its signature',
      (result, { unsent }) =>
        expect(result).toBe(encodeBase58(Buffer.from(unsent.transaction, 'base64').subarray(1, 65))),
      ({ unsent }) => [unsent.transaction, base64],
    ),
    changes: true,
  },
  refusal(
    'sendTransaction',
    'an unknown blockhash',
    { code: -32002, message: 'Transaction simulation failed: Blockhash not found' },
    ({ unsent }) => [unsent.stale, base64],
  ),
  ...['simulateTransaction', 'sendTransaction'].flatMap((method) => [
    ...undecodable.map(([name, bytes, message]) =>
      refusal(method, name, invalid(message), () => [bytes.toString('base64'), base64]),
    ),
    notYet(method, ({ unsent }) => [unsent.transaction, { ...base64, minContextSlot: 2 ** 50 }]),
    ...arity(method, 1, 2),
  ]),
  {
    ...answer(
      'requestAirdrop',
      'a signature',
      (result) => expect(result).toEqual(expect.any(String)),
      ({ wallet }) => [wallet, 1000],
    ),
    changes: true,
  },
  ...arity('requestAirdrop', 2, 3),
];

export const cases = [...accounts, ...tokens, ...transactions];
