import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Address } from '../../../src/solana/address.ts';
import { encodeBase58 } from '../../../src/solana/base58.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { programs } from '../../../src/solana/programs.ts';
import { openRig, type Rig } from './rig.ts';
import {
  memo,
  type Signed,
  sign,
  signVersioned,
  transfer,
  unitLimit,
  unitPrice,
} from './signed-transactions.ts';

const SOL = 1_000_000_000n;
const UNKNOWN_SIGNATURE = encodeBase58(new Uint8Array(64).fill(5));
const BELOW_CONFIRMED = { code: -32602, message: 'Method does not support commitment below `confirmed`' };
const SKIP = { encoding: 'base64', skipPreflight: true };

let rig: Rig;
let payer: Keypair;
let recipient: Address;
/** Oldest first: two transactions in one slot, then one in each of three; the last but one fails. */
let sent: Signed[];
let versioned: Signed;
/** Slot of the first two. */
let slotOfPair: number;

async function send(transaction: Signed): Promise<Signed> {
  await rig.result('sendTransaction', [transaction.base64, SKIP]);
  return transaction;
}

const hash = async (): Promise<string> =>
  (await rig.result('getLatestBlockhash', [{ commitment: 'processed' }])).value.blockhash;

beforeAll(async () => {
  rig = await openRig();
  payer = Keypair.generate();
  recipient = Keypair.generate().address;
  await rig.result('requestAirdrop', [payer.address, 100n * SOL]);
  rig.freeze();
  const first = await send(sign(payer, [transfer(payer.address, recipient, SOL)], await hash()));
  const second = await send(
    sign(payer, [memo('hi'), transfer(payer.address, recipient, 2n * SOL), memo('thère')], await hash()),
  );
  rig.freeze();
  slotOfPair = rig.slot('processed');
  const third = await send(sign(payer, [transfer(payer.address, recipient, 3n * SOL)], await hash()));
  rig.freeze();
  const failing = await send(sign(payer, [transfer(payer.address, recipient, 1_000n * SOL)], await hash()));
  rig.freeze();
  const last = await send(sign(payer, [transfer(payer.address, recipient, 4n * SOL)], await hash()));
  rig.freeze();
  sent = [first, second, third, failing, last];
  versioned = await send(signVersioned(payer, [transfer(payer.address, recipient, 1n)], await hash()));
  await rig.finalize();
});
afterAll(() => rig?.close());

describe('getTransaction', () => {
  it("has Agave's members and order", async () => {
    const [first] = sent;
    const seen = await rig.result('getTransaction', [first?.signature]);
    expect(Object.keys(seen)).toEqual(['blockTime', 'meta', 'slot', 'transaction', 'transactionIndex']);
    expect(seen).toMatchObject({
      slot: slotOfPair,
      transactionIndex: 1,
      meta: { err: null, fee: 5000, status: { Ok: null }, computeUnitsConsumed: 150 },
      transaction: {
        signatures: [first?.signature],
        message: { accountKeys: [payer.address, recipient, programs.system] },
      },
    });
    const [before, after] = [seen.meta.preBalances, seen.meta.postBalances];
    expect(after[1] - before[1]).toBe(Number(SOL));
    expect(seen.blockTime).toBe(await rig.result('getBlockTime', [slotOfPair]));
  });

  it.each([
    ['base58', (t: Signed) => [t.base58, 'base58']],
    ['base64', (t: Signed) => [t.base64, 'base64']],
    ['binary', (t: Signed) => t.base58],
  ] as const)('returns the exact bytes in %s, by config and by bare name', async (encoding, expected) => {
    const transaction = sent[1] as Signed;
    for (const config of [encoding, { encoding }]) {
      const seen = await rig.result('getTransaction', [transaction.signature, config]);
      expect(seen.transaction).toEqual(expected(transaction));
    }
  });

  it('parses instructions on request', async () => {
    const seen = await rig.result('getTransaction', [sent[1]?.signature, 'jsonParsed']);
    expect(seen.transaction.message.instructions).toMatchObject([
      { program: 'spl-memo', parsed: 'hi' },
      { program: 'system', parsed: { type: 'transfer', info: { lamports: Number(2n * SOL) } } },
      { program: 'spl-memo', parsed: 'thère' },
    ]);
  });

  it('rejects a versioned transaction without maxSupportedTransactionVersion', async () => {
    const unsupported = {
      code: -32015,
      message:
        'Transaction version (0) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0',
    };
    expect(await rig.error('getTransaction', [versioned.signature])).toEqual(unsupported);
    const slot = (
      await rig.result('getTransaction', [versioned.signature, { maxSupportedTransactionVersion: 0 }])
    ).slot;
    expect(await rig.error('getBlock', [slot])).toEqual(unsupported);
    const block = await rig.result('getBlock', [slot, { maxSupportedTransactionVersion: 0 }]);
    expect(block.transactions[1].version).toBe(0);
  });

  it('is null when unknown or not confirmed enough', async () => {
    expect(await rig.result('getTransaction', [UNKNOWN_SIGNATURE])).toBeNull();
    const { signature } = await send(sign(payer, [memo('young')], await hash()));
    const at = (commitment: string) => rig.result('getTransaction', [signature, { commitment }]);
    rig.freeze();
    expect(await at('confirmed')).toBeNull();
    rig.freeze();
    expect(await at('confirmed')).toMatchObject({ meta: { err: null } });
    expect(await at('finalized')).toBeNull();
    await rig.finalize(30);
    expect(await at('finalized')).toMatchObject({ meta: { err: null } });
  });

  it.each([
    ['processed', [UNKNOWN_SIGNATURE, { commitment: 'processed' }], BELOW_CONFIRMED],
    [
      'an unknown encoding',
      [UNKNOWN_SIGNATURE, 'hex'],
      {
        code: -32602,
        message: 'Invalid params: data did not match any variant of untagged enum RpcEncodingConfigWrapper.',
      },
    ],
    [
      'a version above 255',
      [UNKNOWN_SIGNATURE, { maxSupportedTransactionVersion: 256 }],
      {
        code: -32602,
        message: 'Invalid params: data did not match any variant of untagged enum RpcEncodingConfigWrapper.',
      },
    ],
  ])('rejects %s', async (_name, params, error) => {
    expect(await rig.error('getTransaction', params)).toEqual(error);
  });
});

describe('getBlock', () => {
  it("has Agave's members and order", async () => {
    const seen = await rig.result('getBlock', [slotOfPair]);
    expect(Object.keys(seen)).toEqual([
      'blockHeight',
      'blockTime',
      'blockhash',
      'parentSlot',
      'previousBlockhash',
      'rewards',
      'transactions',
    ]);
    const parent = await rig.result('getBlock', [slotOfPair - 1]);
    expect(seen).toMatchObject({ parentSlot: slotOfPair - 1, previousBlockhash: parent.blockhash });
    expect(seen.blockHeight).toBe(parent.blockHeight + 1);
    const [vote, ...others] = seen.transactions.map(
      (t: { transaction: { signatures: string[] } }) => t.transaction.signatures,
    );
    expect(vote).toHaveLength(2);
    expect(others.flat()).toEqual([sent[0]?.signature, sent[1]?.signature]);
  });

  it('shows the leader reward: half of the signature fees and all priority fees', async () => {
    const identity = await rig.result('getIdentity', []);
    const seen = await rig.result('getBlock', [slotOfPair, { transactionDetails: 'none' }]);
    expect(seen.rewards).toEqual([
      {
        pubkey: identity.identity,
        lamports: 10_000,
        // 500 SOL, half of the fee of the airdrop in slot 1, and half of the fees of the vote.
        postBalance: 500_000_002_500,
        rewardType: 'Fee',
        commission: null,
      },
    ]);
    expect(Object.keys(seen.rewards[0])).toEqual([
      'commission',
      'lamports',
      'postBalance',
      'pubkey',
      'rewardType',
    ]);
    const tip = rig.slot('processed');
    const price = unitPrice(1_000_000n);
    const priced = sign(
      payer,
      [price, unitLimit(1000), transfer(payer.address, recipient, 1n)],
      await hash(),
    );
    await send(priced);
    rig.freeze(2);
    const confirmed = { transactionDetails: 'none', commitment: 'confirmed' };
    expect((await rig.result('getBlock', [tip + 1, confirmed])).rewards).toMatchObject([{ lamports: 8500 }]);
    expect((await rig.result('getBlock', [slotOfPair - 1, confirmed])).rewards).toHaveLength(1);
    expect((await rig.result('getBlock', [0, confirmed])).rewards).toEqual([]);
  });

  it('supports every level of details', async () => {
    const callRpc = (config: object) => rig.result('getBlock', [slotOfPair, config]);
    expect((await callRpc({ transactionDetails: 'signatures' })).signatures).toEqual([
      expect.any(String),
      sent[0]?.signature,
      sent[1]?.signature,
    ]);
    const none = await callRpc({ transactionDetails: 'none', rewards: false });
    expect(none).not.toHaveProperty('transactions');
    expect(none).not.toHaveProperty('signatures');
    expect(none).not.toHaveProperty('rewards');
    const { transactions } = await callRpc({ transactionDetails: 'accounts' });
    expect(transactions[1].transaction.accountKeys[1]).toEqual({
      pubkey: recipient,
      signer: false,
      source: 'transaction',
      writable: true,
    });
    expect((await callRpc({ encoding: 'base64' })).transactions[1].transaction).toEqual([
      sent[0]?.base64,
      'base64',
    ]);
  });

  it('returns a confirmed slot on request', async () => {
    const slot = rig.slot('confirmed');
    const unavailable = { code: -32004, message: `Block not available for slot ${slot}` };
    expect(await rig.result('getBlock', [slot, { commitment: 'confirmed' }])).toMatchObject({
      parentSlot: slot - 1,
    });
    expect(await rig.error('getBlock', [slot])).toEqual(unavailable);
    const tip = rig.slot('processed');
    expect(await rig.error('getBlock', [tip, { commitment: 'confirmed' }])).toMatchObject({ code: -32004 });
    expect(await rig.result('getBlockTime', [tip])).toEqual(expect.any(Number));
  });

  it.each([
    ['getBlock', 18446744073709551615n],
    ['getBlockTime', 18446744073709551615n],
    ['getBlock', 9223372036854775807n],
  ] as const)('%s of the future slot %s is not available', async (method, slot) => {
    expect(await rig.error(method, [slot])).toEqual({
      code: -32004,
      message: `Block not available for slot ${slot}`,
    });
  });

  it.each([
    [
      'unknown details',
      [1, { transactionDetails: 'all' }],
      {
        code: -32602,
        message: 'Invalid params: data did not match any variant of untagged enum RpcEncodingConfigWrapper.',
      },
    ],
  ])('rejects %s', async (_name, params, error) => {
    expect(await rig.error('getBlock', params)).toEqual(error);
  });
});

describe('removed block', () => {
  it('differs from a skipped one', async () => {
    const { firstAvailableSlot } = rig.node.history;
    const history = { ...rig.node.history, firstAvailableSlot, block: () => null, blockTime: () => null };
    const pruned = { firstAvailableSlot: 5n, block: () => null, blockTime: () => null };
    const cleaned = 'Block 3 cleaned up, does not exist on node. First available block: 5';
    const skipped = 'Slot 3 was skipped, or missing due to ledger jump to recent snapshot';
    for (const method of ['getBlock', 'getBlockTime'] as const) {
      expect(await rig.errorWith({ history: pruned }, method, [3])).toEqual({
        code: -32001,
        message: cleaned,
      });
      expect(await rig.errorWith({ history }, method, [3])).toEqual({ code: -32007, message: skipped });
    }
  });
});

describe('time of slot 0', () => {
  it('is known after its block is removed', async () => {
    const history = { firstAvailableSlot: 5n, block: () => null, blockTime: () => null };
    const time = await rig.resultWith({ history }, 'getBlockTime', [0]);
    expect(time).toBe(Number(rig.node.genesis.creationTime));
  });
});

describe('getBlocks', () => {
  it('lists a range, both ends included', async () => {
    expect(await rig.result('getBlocks', [2, 5])).toEqual([2, 3, 4, 5]);
    expect(await rig.result('getBlocks', [5, 2])).toEqual([]);
  });

  it('stops at the tip of the commitment', async () => {
    const [confirmed, finalized] = [rig.slot('confirmed'), rig.slot('finalized')];
    expect((await rig.result('getBlocks', [0])).at(-1)).toBe(finalized);
    expect((await rig.result('getBlocks', [0, { commitment: 'confirmed' }])).at(-1)).toBe(confirmed);
    expect((await rig.result('getBlocks', [0, null, { commitment: 'confirmed' }])).at(-1)).toBe(confirmed);
    expect(await rig.result('getBlocks', [confirmed + 1, { commitment: 'confirmed' }])).toEqual([]);
    expect(await rig.result('getBlocks', [18446744073709551615n])).toEqual([]);
  });

  it('lists from a slot with a limit', async () => {
    expect(await rig.result('getBlocksWithLimit', [3, 2])).toEqual([3, 4]);
    expect(await rig.result('getBlocksWithLimit', [3, 0])).toEqual([]);
    const finalized = rig.slot('finalized');
    expect(await rig.result('getBlocksWithLimit', [finalized, 5])).toEqual([finalized]);
    const confirmed = await rig.result('getBlocksWithLimit', [finalized, 5, { commitment: 'confirmed' }]);
    expect(confirmed).toHaveLength(5);
  });

  it.each([
    ['getBlocks', [0, 5, { commitment: 'processed' }], BELOW_CONFIRMED],
    ['getBlocksWithLimit', [0, 5, { commitment: 'processed' }], BELOW_CONFIRMED],
    ['getBlocksWithLimit', [0, 500_001], { code: -32602, message: 'Limit too large; max 500000' }],
    [
      'getBlocks',
      [0, 'x'],
      {
        code: -32602,
        message: 'Invalid params: data did not match any variant of untagged enum RpcBlocksConfigWrapper.',
      },
    ],
  ] as const)('%s rejects %j', async (method, params, error) => {
    expect(await rig.error(method, params)).toEqual(error);
  });

  it('rejects a range above 500,000 slots', async () => {
    const far = { bank: () => ({ slot: 600_000n }) };
    expect(await rig.errorWith(far, 'getBlocks', [0, 500_001])).toEqual({
      code: -32602,
      message: 'Slot range too large; max 500000',
    });
  });
});

describe('getSignaturesForAddress', () => {
  it('returns the required members', async () => {
    const entries = await rig.result('getSignaturesForAddress', [recipient]);
    expect(entries[2]).toEqual({
      blockTime: expect.any(Number),
      confirmationStatus: 'finalized',
      err: { InstructionError: [0, { Custom: 1 }] },
      memo: null,
      signature: sent[3]?.signature,
      slot: slotOfPair + 2,
      transactionIndex: 1,
    });
    expect(entries[4]).toMatchObject({
      memo: '[2] hi; [6] thère',
      slot: slotOfPair,
      transactionIndex: 2,
      err: null,
    });
  });

  it('returns only confirmed entries with their status', async () => {
    const to = Keypair.generate().address;
    await send(sign(payer, [transfer(payer.address, to, SOL)], await hash()));
    const at = (commitment: string) => rig.result('getSignaturesForAddress', [to, { commitment }]);
    rig.freeze();
    expect(await at('confirmed')).toEqual([]);
    rig.freeze();
    expect(await at('confirmed')).toMatchObject([{ confirmationStatus: 'confirmed' }]);
    expect(await at('finalized')).toEqual([]);
  });

  it.each(['before', 'until'])('rejects an unknown %s', async (cursor) => {
    expect(await rig.error('getSignaturesForAddress', [recipient, { [cursor]: UNKNOWN_SIGNATURE }])).toEqual({
      code: -32020,
      message: `Transaction ${UNKNOWN_SIGNATURE} not found`,
    });
  });

  it.each([
    [{ limit: 0 }, { code: -32602, message: 'Invalid limit; max 1000' }],
    [{ limit: 1001 }, { code: -32602, message: 'Invalid limit; max 1000' }],
    [{ before: '1' }, { code: -32602, message: 'Invalid param: WrongSize' }],
    [{ until: 'l' }, { code: -32602, message: 'Invalid param: Invalid' }],
    [{ commitment: 'processed' }, BELOW_CONFIRMED],
  ])('rejects %j', async (config, error) => {
    expect(await rig.error('getSignaturesForAddress', [recipient, config])).toEqual(error);
  });
});
