import { expect } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { encodeBase58 } from '../../../src/solana/base58.ts';
import { answer, arity, notYet, refusal } from '../case-families.ts';
import { fixed, invalid, type MethodCase, made } from '../method-case.ts';

const base64 = { encoding: 'base64' } as const;
const NO_TRANSACTION = 'AAAA';

/** Base64 of a message with one key, no instruction and an empty lookup if requested. */
const messageOf = (version: number | null, signers: number, readOnly: number, lookup = false): string =>
  Buffer.concat([
    Buffer.from([...(version === null ? [] : [version]), signers, readOnly, 0, 1]),
    Buffer.alloc(32 + 32, 1),
    Buffer.of(0),
    version === null ? Buffer.alloc(0) : Buffer.of(lookup ? 1 : 0),
    lookup ? Buffer.concat([Buffer.alloc(32, 1), Buffer.of(0, 0)]) : Buffer.alloc(0),
  ]).toString('base64');

/** Base64 of a transaction with one invalid signature. */
const transactionOf = (message: string): string =>
  Buffer.concat([Buffer.of(1), Buffer.alloc(64, 2), Buffer.from(message, 'base64')]).toString('base64');

/** Preflight result of a transaction that was not executed. */
const notRun = (err: string, fee: number | null): { [name: string]: JsonValue } => ({
  accounts: null,
  err,
  fee,
  innerInstructions: null,
  loadedAccountsDataSize: 0,
  loadedAddresses: null,
  logs: [],
  postBalances: null,
  postTokenBalances: null,
  preBalances: null,
  preTokenBalances: null,
  replacementBlockhash: null,
  returnData: null,
  unitsConsumed: 0,
});

const undecodable = (method: string): MethodCase[] => [
  refusal(
    method,
    'what is no base64',
    fixed('["!",{"encoding":"base64"}]'),
    invalid(/^invalid base64 encoding: /),
  ),
  refusal(method, 'what is no base58', fixed('["0"]'), invalid(/^invalid base58 encoding: /)),
  refusal(
    method,
    'what is no transaction',
    made(() => [NO_TRANSACTION, base64]),
    invalid(/^failed to deserialize solana_transaction::versioned::VersionedTransaction: /),
  ),
  refusal(
    method,
    'an encoding that it does not take',
    fixed('["",{"encoding":"jsonParsed"}]'),
    invalid('unsupported encoding: jsonParsed. Supported encodings: base58, base64'),
  ),
  refusal(
    method,
    'text that is too long',
    made(() => ['A'.repeat(1648), base64]),
    invalid(
      'base64 encoded solana_transaction::versioned::VersionedTransaction too large: 1648 bytes ' +
        '(max: encoded/raw 1644/1232)',
    ),
  ),
  ...[
    ['signatures that are cut off', Buffer.of(2, 0), 'Attempting to read 128 bytes'],
    ['a header that is cut off', Buffer.of(0, 1), 'Attempting to read 2 bytes'],
    [
      'more signatures than a byte counts',
      Buffer.of(0xff),
      'Custom error: invalid transaction discriminator',
    ],
    ['version 1', Buffer.alloc(1500, 0x81), 'Invalid tag encoding: 1'],
    ['a version that is none', Buffer.of(0, 0x85), 'Invalid tag encoding: 5'],
    [
      'a length that is written too long',
      Buffer.of(0, 0, 0, 0, 0x81, 0x00),
      'Invalid value: short u16: non-canonical encoding',
    ],
  ].map(([name, bytes, fault]) =>
    refusal(
      method,
      `${name}`,
      made(() => [(bytes as Buffer).toString('base64'), base64]),
      invalid(`failed to deserialize solana_transaction::versioned::VersionedTransaction: ${fault}`),
    ),
  ),
  refusal(
    method,
    'version 1 that is too long',
    made(() => [`gQ${'A'.repeat(5466)}`, base64]),
    invalid(
      'base64 encoded solana_transaction::versioned::VersionedTransaction too large: 5468 bytes ' +
        '(max: encoded/raw 5464/4096)',
    ),
  ),
  notYet(
    method,
    made(({ unsent }) => [unsent.transaction, { ...base64, minContextSlot: 2 ** 50 }]),
  ),
  refusal(
    method,
    'a transaction whose payer is read-only',
    made(() => [transactionOf(messageOf(null, 1, 1)), base64]),
    invalid('invalid transaction: Transaction failed to sanitize accounts offsets correctly'),
  ),
  ...arity(method, 1, 2),
];

/** Reference solana-json-rpc.md §1.5 and §1.10. */
export const cases: readonly MethodCase[] = [
  answer(
    'getFeeForMessage',
    'lamports',
    made(({ unsent }) => [unsent.message]),
    (result) => expect(result).toMatchObject({ value: 5000 }),
  ),
  ...[
    ['version 0 whose payer is read-only', messageOf(0x80, 1, 1), 'invalid value'],
    ['version 0 with a lookup of nothing', messageOf(0x80, 1, 0, true), 'invalid value'],
    ['a legacy message whose payer is read-only', messageOf(null, 1, 1), 'index out of bounds'],
    ['more signers than keys', messageOf(0x80, 2, 0), 'index out of bounds'],
  ].map(([name, message, fault]) =>
    refusal(
      'getFeeForMessage',
      `${name}`,
      made(() => [`${message}`]),
      invalid(`invalid transaction message: ${fault}`),
    ),
  ),
  refusal('getFeeForMessage', 'what is no base64', fixed('["!"]'), invalid(/^invalid base64 encoding: /)),
  refusal('getFeeForMessage', 'what is no message', fixed('["AAAA"]'), invalid(/^failed to deserialize /)),
  refusal(
    'getFeeForMessage',
    'text that is too long',
    made(() => ['A'.repeat(1648)]),
    invalid(/^base64 encoded .* too large: 1648 bytes/),
  ),
  notYet(
    'getFeeForMessage',
    made(({ unsent }) => [unsent.message, { minContextSlot: 2 ** 50 }]),
  ),
  ...arity('getFeeForMessage', 1, 2),

  answer(
    'simulateTransaction',
    'a transfer',
    made(({ unsent }) => [unsent.transaction, base64]),
    (result) => expect(result).toMatchObject({ value: { err: null, unitsConsumed: 150 } }),
  ),
  answer(
    'simulateTransaction',
    'the accounts afterwards',
    made(({ unsent, wallet }) => [
      unsent.transaction,
      { ...base64, accounts: { encoding: 'base64', addresses: [wallet] } },
    ]),
    (result) => expect(result).toMatchObject({ value: { accounts: [{ space: 0 }] } }),
  ),
  answer(
    'simulateTransaction',
    'a signature that is wrong',
    made(({ unsent }) => [unsent.forged, { ...base64, sigVerify: true }]),
    (result) => expect(result).toMatchObject({ value: { err: 'SignatureFailure' } }),
  ),
  refusal(
    'simulateTransaction',
    'to check signatures that it replaces',
    made(({ unsent }) => [unsent.transaction, { ...base64, sigVerify: true, replaceRecentBlockhash: true }]),
    invalid('sigVerify may not be used with replaceRecentBlockhash'),
  ),
  refusal(
    'simulateTransaction',
    'accounts as base58',
    made(({ unsent, wallet }) => [
      unsent.transaction,
      { ...base64, accounts: { encoding: 'base58', addresses: [wallet] } },
    ]),
    invalid('base58 encoding not supported'),
  ),
  refusal(
    'simulateTransaction',
    'more accounts than it has',
    made(({ unsent, wallet }) => [
      unsent.transaction,
      { ...base64, accounts: { encoding: 'base64', addresses: [wallet, wallet, wallet, wallet] } },
    ]),
    invalid('Too many accounts provided; max 3'),
  ),
  ...undecodable('simulateTransaction'),

  {
    ...answer(
      'sendTransaction',
      'its signature',
      made(({ unsent }) => [unsent.transaction, base64]),
      (result, { unsent }) =>
        expect(result).toBe(encodeBase58(Buffer.from(unsent.transaction, 'base64').subarray(1, 65))),
    ),
    changes: true,
  },
  refusal(
    'sendTransaction',
    'a signature that is wrong',
    made(({ unsent }) => [unsent.forged, base64]),
    {
      code: -32002,
      message: 'Transaction simulation failed: Transaction did not pass signature verification',
      data: notRun('SignatureFailure', null),
    },
  ),
  refusal(
    'sendTransaction',
    'what was processed already',
    made(({ wire }) => [wire.base64, base64]),
    {
      code: -32002,
      message: 'Transaction simulation failed: This transaction has already been processed',
      data: notRun('AlreadyProcessed', null),
    },
  ),
  refusal(
    'sendTransaction',
    'a blockhash that it does not know',
    made(({ unsent }) => [unsent.stale, base64]),
    {
      code: -32002,
      message: 'Transaction simulation failed: Blockhash not found',
      data: notRun('BlockhashNotFound', null),
    },
  ),
  ...undecodable('sendTransaction'),

  {
    ...answer(
      'requestAirdrop',
      'a signature',
      made(({ wallet }) => [wallet, 1000]),
      (result) => expect(result).toEqual(expect.any(String)),
    ),
    changes: true,
  },
  refusal('requestAirdrop', 'an address that is none', fixed('["0",1]'), invalid('Invalid param: Invalid')),
  refusal(
    'requestAirdrop',
    'more than the faucet has',
    made(({ wallet }) => [wallet, 10n ** 18n]),
    { code: -32603, message: 'Internal error' },
  ),
  ...arity('requestAirdrop', 2, 3),
];
