import type { WritableJson } from '../../../src/base/json.ts';
import { commitments } from '../../../src/protocol/commitment.ts';
import { programs } from '../../../src/solana/programs.ts';
import { script } from '../run-script.ts';
import { call, type RecordedCase, raw } from './recorded-case.ts';

type Members = { readonly [name: string]: WritableJson };

const steps = script.map(({ name }) => name);
const ofVersion = (version: number): number | undefined => (version < 0 ? undefined : version);
const encodings = ['json', 'jsonParsed', 'base64', 'base58', 'binary', 'base64+zstd', 'hex'] as const;
const details = ['full', 'accounts', 'signatures', 'none', 'color'] as const;

/** Transactions whose bytes hold nothing random but a blockhash and signatures. */
const everyForm = ['transfer', 'transfer v0', 'transfer v1', 'use nonce', 'fail: second instruction'];

const read = (label: string, step: string, config: WritableJson): RecordedCase =>
  call('getTransaction', `${step} ${label}`, (f) => [f.signature(step), config]);

const transactionCases: readonly RecordedCase[] = [
  ...steps.map((name) => read('parsed', name, { encoding: 'jsonParsed', maxSupportedTransactionVersion: 1 })),
  ...everyForm.flatMap((name) =>
    encodings.map((encoding) =>
      read(`as ${encoding}`, name, { encoding, maxSupportedTransactionVersion: 1 }),
    ),
  ),
  ...encodings.map((encoding) => read(`as the text ${encoding}`, 'transfer', encoding)),
  ...['use table', 'fail: no program', 'convert amounts', 'transfer as delegate', 'withdraw fees'].map(
    (name) => read('as json', name, { encoding: 'json', maxSupportedTransactionVersion: 0 }),
  ),
  ...['transfer', 'transfer v0', 'transfer v1'].flatMap((name) =>
    [-1, 0, 1, 2, 255, 256].map((version) =>
      read(`up to version ${version}`, name, {
        ...{ encoding: 'base64', maxSupportedTransactionVersion: ofVersion(version) },
      }),
    ),
  ),
  read('up to version "0"', 'transfer v0', { maxSupportedTransactionVersion: '0' }),
  ...commitments.map((commitment) => read(`at ${commitment}`, 'memo', { commitment })),
  call('getTransaction', 'an unknown signature', ['1'.repeat(64), { encoding: 'json' }]),
];

const readBlock = (label: string, config: WritableJson, step = 'transfer'): RecordedCase =>
  call('getBlock', label, (f) => [f.slot(step), config]);

const blockCases: readonly RecordedCase[] = [
  ...['transfer', 'use table', 'fail: compute units'].flatMap((name) =>
    encodings.map((encoding) =>
      readBlock(`${name} as ${encoding}`, { encoding, maxSupportedTransactionVersion: 0 }, name),
    ),
  ),
  ...['transfer v0', 'mint tokens', 'transfer tokens22 with fee'].flatMap((name) =>
    details.map((transactionDetails) =>
      readBlock(
        `${name} with ${transactionDetails}`,
        {
          ...{ transactionDetails, maxSupportedTransactionVersion: 0 },
        },
        name,
      ),
    ),
  ),
  ...[true, false, null, 5].map((rewards) =>
    readBlock(`rewards ${rewards}`, { rewards, transactionDetails: 'none' }),
  ),
  ...['transfer v0', 'transfer v1'].flatMap((name) =>
    [-1, 0, 1].map((version) =>
      readBlock(
        `${name} up to version ${version}`,
        {
          ...{ transactionDetails: 'accounts', maxSupportedTransactionVersion: ofVersion(version) },
        },
        name,
      ),
    ),
  ),
  readBlock('as a text', 'base64'),
  readBlock('with footer', { footer: true, transactionDetails: 'none' }),
  ...commitments.map((commitment) =>
    readBlock(`at ${commitment}`, { commitment, transactionDetails: 'none' }),
  ),
  ...['getBlock', 'getBlockTime', 'getBlockCommitment'].flatMap((method) => [
    call(method, 'slot 0', [0]),
    call(method, 'a slot ahead', [900_000_000]),
    call(method, 'the largest slot', [raw('18446744073709551615')]),
  ]),
];

const ranges: readonly (readonly [string, string, string])[] = [
  ['of two steps', 'transfer', 'transfer v0'],
  ['of one slot', 'transfer', 'transfer'],
  ['that runs back', 'transfer v0', 'transfer'],
];

const listCases: readonly RecordedCase[] = [
  ...ranges.map(([label, first, last]) => call('getBlocks', label, (f) => [f.slot(first), f.slot(last)])),
  ...commitments.map((commitment) =>
    call('getBlocks', `at ${commitment}`, (f) => [f.slot('transfer'), f.slot('transfer'), { commitment }]),
  ),
  call('getBlocks', 'config in place of the end', [900_000_000, { commitment: 'confirmed' }]),
  call('getBlocks', 'from 0 to 0', [0, 0]),
  call('getBlocks', 'from 0 to 500001', [0, 500_001]),
  call('getBlocks', 'ahead', [900_000_000, 900_000_010]),
  ...[0, 1, 3, 500_000, 500_001].map((limit) =>
    call('getBlocksWithLimit', `limit ${limit}`, (f) => [
      limit > 3 ? 900_000_000 : f.slot('transfer'),
      limit,
    ]),
  ),
  ...commitments.map((commitment) =>
    call('getBlocksWithLimit', `at ${commitment}`, (f) => [f.slot('transfer'), 1, { commitment }]),
  ),
];

const ADDRESSES = [
  'dust',
  'data',
  'alone',
  'nonce',
  'mint',
  'alice/mint',
  'vote',
  'stake',
  'poor',
  'absent',
  'table',
];

const of = (
  label: string,
  config: (step: (name: string) => string) => Members,
  name = 'mint',
): RecordedCase => call('getSignaturesForAddress', label, (f) => [f.address(name), config(f.signature)]);

const addressCases: readonly RecordedCase[] = [
  ...ADDRESSES.map((name) => of(name, () => ({}), name)),
  ...[0, 1, 2, 1_000, 1_001, -1, '1', null].map((limit) =>
    of(`limit ${JSON.stringify(limit)}`, () => ({ limit })),
  ),
  of('before a step', (step) => ({ before: step('burn') })),
  of('until a step', (step) => ({ until: step('burn') })),
  of('before and until', (step) => ({ before: step('thaw'), until: step('approve') })),
  of('before and until reversed', (step) => ({ before: step('approve'), until: step('thaw') })),
  of('before a step of others', (step) => ({ before: step('create stake'), limit: 2 })),
  of('before an unknown signature', () => ({ before: '1'.repeat(64) })),
  of('until an unknown signature', () => ({ until: '1'.repeat(64) })),
  of('before no base58', () => ({ before: '0OIl' })),
  of('until a short signature', () => ({ until: '1111' })),
  ...commitments.map((commitment) => of(`at ${commitment}`, () => ({ commitment, limit: 1 }))),
];

const statusCases: readonly RecordedCase[] = [
  ...[true, false, null, 5].map((searchTransactionHistory) =>
    call('getSignatureStatuses', `history ${searchTransactionHistory}`, (f) => [
      [f.signature('transfer'), f.signature('fail: rent'), '1'.repeat(64)],
      { searchTransactionHistory },
    ]),
  ),
  ...['transfer', 'fail: compute units', 'fail: no program', 'fail: frozen', 'deactivate table'].map((name) =>
    call('getSignatureStatuses', name, (f) => [[f.signature(name)], { searchTransactionHistory: true }]),
  ),
  call('getSignatureStatuses', '256 of them', [Array(256).fill('1'.repeat(64))]),
  call('getSignatureStatuses', '257 of them', [Array(257).fill('1'.repeat(64))]),
];

/** Blocks, transactions and their indexes. */
export const historyCases: readonly RecordedCase[] = [
  ...[transactionCases, blockCases, listCases, addressCases, statusCases].flat(),
  ...['dust', 'mint'].map((name) =>
    call('getTransactionsForAddress', name, (f) => [f.address(name), { limit: 2 }]),
  ),
  call('getRecentPrioritizationFees', 'of a program', [[programs.token]]),
  call('getRecentPrioritizationFees', '128 of them', [Array(128).fill(programs.token)]),
  call('getRecentPrioritizationFees', '129 of them', [Array(129).fill(programs.token)]),
];
