import { expect } from 'vitest';
import { aboveProcessed, answer, arity, notYet, refusal } from '../case-families.ts';
import { type CaseLedger, fixed, invalid, type MethodCase, made } from '../method-case.ts';

const UNKNOWN = '1'.repeat(64);
const SYSTEM = '11111111111111111111111111111111';
const FAR = '9223372036854775807';
const unsupported = {
  code: -32015,
  message:
    'Transaction version (0) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0',
};
const cleanedUp = {
  code: -32001,
  message: /^Block 1 cleaned up, does not exist on node\. First available block: \d+$/,
};
const notAvailable = { code: -32004, message: `Block not available for slot ${FAR}` };

/** The payment in each encoding. */
const shown: Readonly<Record<string, (facts: CaseLedger) => object>> = {
  json: ({ signature, wallet }) => ({
    signatures: [signature],
    message: { accountKeys: [wallet, expect.any(String), SYSTEM], instructions: [{ programIdIndex: 2 }] },
  }),
  jsonParsed: ({ signature, wallet }) => ({
    signatures: [signature],
    message: {
      accountKeys: [{ pubkey: wallet, signer: true, source: 'transaction', writable: true }, {}, {}],
      instructions: [
        { program: 'system', parsed: { type: 'transfer', info: { source: wallet, lamports: 1e9 } } },
      ],
    },
  }),
  base64: ({ wire }) => [wire.base64, 'base64'],
  base58: ({ wire }) => [wire.base58, 'base58'],
};

/** The payment in each detail level of a block. */
const detailed: Readonly<Record<string, (facts: CaseLedger) => object>> = {
  full: ({ signature }) => ({
    signatures: undefined,
    transactions: [{ transaction: { signatures: [signature] } }],
  }),
  accounts: ({ wallet }) => ({
    signatures: undefined,
    transactions: [{ transaction: { accountKeys: [{ pubkey: wallet }, {}, { pubkey: SYSTEM }] } }],
  }),
  signatures: ({ signature }) => ({ signatures: [signature], transactions: undefined }),
  none: () => ({ signatures: undefined, transactions: undefined }),
};

/** Reference solana-json-rpc.md §1.4 and §1.9. */
export const cases: readonly MethodCase[] = [
  ...Object.entries(shown).map(([encoding, transactionOf]) =>
    answer(
      'getBlock',
      `as ${encoding}`,
      made(({ slot }) => [slot, { encoding, maxSupportedTransactionVersion: 0 }]),
      (result, facts) =>
        expect(result).toMatchObject({
          parentSlot: Number(facts.slot) - 1,
          transactions: [{ version: 'legacy', meta: { err: null }, transaction: transactionOf(facts) }],
        }),
    ),
  ),
  ...Object.entries(detailed).map(([transactionDetails, blockOf]) =>
    answer(
      'getBlock',
      `with ${transactionDetails}`,
      made(({ slot }) => [slot, { transactionDetails }]),
      (result, facts) => {
        const { signatures, transactions } = result as { signatures?: unknown; transactions?: unknown };
        expect({ signatures, transactions }).toMatchObject(blockOf(facts));
      },
    ),
  ),
  answer(
    'getBlock',
    'without rewards',
    made(({ slot }) => [slot, { rewards: false }]),
    (result) => expect(result).not.toHaveProperty('rewards'),
  ),
  answer(
    'getBlock',
    'a confirmed one to callers content with that',
    made(({ at }) => [at.confirmed, { commitment: 'confirmed' }]),
    (result, { at }) => expect(result).toMatchObject({ blockHeight: Number(at.confirmed), transactions: [] }),
  ),
  refusal(
    'getBlock',
    'one that is only confirmed to others',
    made(({ at }) => [at.confirmed]),
    {
      code: -32004,
      message: /^Block not available for slot \d+$/,
    },
  ),
  refusal(
    'getBlock',
    'a version that the caller does not know',
    made(({ versioned }) => [versioned.slot]),
    unsupported,
  ),
  refusal('getBlock', 'a slot that is gone', fixed('[1]'), cleanedUp),
  refusal('getBlock', 'a slot that is far away', fixed(`[${FAR}]`), notAvailable),
  refusal(
    'getBlock',
    'a text for a slot',
    fixed('["1"]'),
    invalid('Invalid params: invalid type: string "1", expected u64.'),
  ),
  aboveProcessed('getBlock', ({ slot }) => [slot, { commitment: 'processed' }]),
  ...arity('getBlock', 1, 2),

  answer(
    'getBlockTime',
    'Unix seconds',
    made(({ slot }) => [slot]),
    (result) => expect(result).toBeGreaterThan(1.7e9),
  ),
  refusal('getBlockTime', 'a slot that is gone', fixed('[1]'), cleanedUp),
  refusal('getBlockTime', 'a slot that is far away', fixed(`[${FAR}]`), notAvailable),
  refusal(
    'getBlockTime',
    'a text',
    fixed('["1"]'),
    invalid('Invalid params: invalid type: string "1", expected u64.'),
  ),

  answer(
    'getBlocks',
    'a range',
    made(({ slot }) => [slot, slot + 2n]),
    (result) => expect(result).toHaveLength(3),
  ),
  answer('getBlocks', 'nothing for a range that runs back', fixed('[9,3]'), (result) =>
    expect(result).toEqual([]),
  ),
  answer('getBlocks', 'nothing for a start that is far away', fixed(`[${FAR}]`), (result) =>
    expect(result).toEqual([]),
  ),
  aboveProcessed('getBlocks', ({ slot }) => [slot, { commitment: 'processed' }]),
  notYet(
    'getBlocks',
    made(({ slot }) => [slot, null, { minContextSlot: 2 ** 50 }]),
  ),
  ...arity('getBlocks', 1, 3),

  answer(
    'getBlocksWithLimit',
    'as many',
    made(({ slot }) => [slot, 2]),
    (result) => expect(result).toHaveLength(2),
  ),
  answer(
    'getBlocksWithLimit',
    'none',
    made(({ slot }) => [slot, 0]),
    (result) => expect(result).toEqual([]),
  ),
  refusal('getBlocksWithLimit', 'too many', fixed('[0,500001]'), invalid('Limit too large; max 500000')),
  aboveProcessed('getBlocksWithLimit', ({ slot }) => [slot, 2, { commitment: 'processed' }]),
  notYet(
    'getBlocksWithLimit',
    made(({ slot }) => [slot, 2, { minContextSlot: 2 ** 50 }]),
  ),
  ...arity('getBlocksWithLimit', 2, 3),

  ...Object.entries(shown).flatMap(([encoding, transactionOf]) => [
    answer(
      'getTransaction',
      `as ${encoding}`,
      made(({ signature }) => [signature, { encoding }]),
      (result, facts) =>
        expect(result).toMatchObject({ slot: Number(facts.slot), transaction: transactionOf(facts) }),
    ),
    answer(
      'getTransaction',
      `a version 0 as ${encoding}`,
      made(({ versioned }) => [versioned.signature, { encoding, maxSupportedTransactionVersion: 0 }]),
      (result) => expect(result).toMatchObject({ version: 0 }),
    ),
  ]),
  answer(
    'getTransaction',
    'one that failed',
    made(({ failed }) => [failed]),
    (result) => expect(result).toMatchObject({ meta: { status: { Err: expect.anything() } } }),
  ),
  answer('getTransaction', 'null for an unknown one', fixed(`["${UNKNOWN}"]`), (result) =>
    expect(result).toBeNull(),
  ),
  refusal(
    'getTransaction',
    'a version that the caller does not know',
    made(({ versioned }) => [versioned.signature]),
    unsupported,
  ),
  refusal('getTransaction', 'what is no signature', fixed('["0"]'), invalid('Invalid param: Invalid')),
  refusal('getTransaction', 'a short signature', fixed('["1"]'), invalid('Invalid param: WrongSize')),
  aboveProcessed('getTransaction', ({ signature }) => [signature, { commitment: 'processed' }]),
  ...arity('getTransaction', 1, 2),

  answer(
    'getSignaturesForAddress',
    'newest first',
    made(({ wallet }) => [wallet, { limit: 2 }]),
    (result) => expect(result).toHaveLength(2),
  ),
  answer(
    'getSignaturesForAddress',
    'those before one',
    made(({ wallet, signature }) => [wallet, { before: signature }]),
    // Only the airdrop was before.
    (result, { slot }) => expect(result).toMatchObject([{ slot: Number(slot) - 1, err: null }]),
  ),
  refusal(
    'getSignaturesForAddress',
    'a limit of 0',
    made(({ wallet }) => [wallet, { limit: 0 }]),
    invalid('Invalid limit; max 1000'),
  ),
  refusal(
    'getSignaturesForAddress',
    'a limit above 1000',
    made(({ wallet }) => [wallet, { limit: 1001 }]),
    invalid('Invalid limit; max 1000'),
  ),
  refusal(
    'getSignaturesForAddress',
    'an unknown signature to begin before',
    made(({ wallet }) => [wallet, { before: UNKNOWN }]),
    {
      code: -32020,
      message: `Transaction ${UNKNOWN} not found`,
    },
  ),
  refusal(
    'getSignaturesForAddress',
    'an unknown signature to stop at',
    made(({ wallet }) => [wallet, { until: UNKNOWN }]),
    {
      code: -32020,
      message: `Transaction ${UNKNOWN} not found`,
    },
  ),
  refusal(
    'getSignaturesForAddress',
    'what is no signature',
    made(({ wallet }) => [wallet, { before: '0' }]),
    invalid('Invalid param: Invalid'),
  ),
  notYet(
    'getSignaturesForAddress',
    made(({ wallet }) => [wallet, { minContextSlot: 2 ** 50 }]),
  ),
  aboveProcessed('getSignaturesForAddress', ({ wallet }) => [wallet, { commitment: 'processed' }]),
  ...arity('getSignaturesForAddress', 1, 2),

  answer(
    'getSignatureStatuses',
    'a finalized one and a hole',
    made(({ signature }) => [[signature, UNKNOWN], { searchTransactionHistory: true }]),
    (result) =>
      expect(result).toMatchObject({
        value: [{ confirmationStatus: 'finalized', confirmations: null }, null],
      }),
  ),
  refusal(
    'getSignatureStatuses',
    'too many',
    made(({ signature }) => [Array.from({ length: 257 }, () => signature)]),
    invalid('Too many inputs provided; max 256'),
  ),
  refusal(
    'getSignatureStatuses',
    'what is no signature',
    fixed('[["0"]]'),
    invalid('Invalid param: Invalid'),
  ),
  ...arity('getSignatureStatuses', 1, 2),
];
