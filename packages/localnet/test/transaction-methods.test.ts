import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Address } from '../../../src/solana/address.ts';
import { encodeBase58 } from '../../../src/solana/base58.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { decodeNonce } from '../../../src/solana/nonce.ts';
import { nativeMint } from '../../../src/solana/programs.ts';
import { openRig, type Rig } from './rig.ts';
import {
  advanceNonce,
  associatedTokenAccount,
  memo,
  newMint,
  nonceAccount,
  type Signed,
  sign,
  signAll,
  transfer,
  unitLimit,
  unitPrice,
} from './signed-transactions.ts';

const SOL = 1_000_000_000n;
const UNKNOWN_SIGNATURE = encodeBase58(new Uint8Array(64).fill(5));
const UNKNOWN_HASH = encodeBase58(new Uint8Array(32).fill(5));
const TRANSACTION = 'solana_transaction::versioned::VersionedTransaction';

let rig: Rig;
let payer: Keypair;
let recipient: Address;

beforeAll(async () => {
  rig = await openRig();
  payer = Keypair.generate();
  recipient = Keypair.generate().address;
  await rig.result('requestAirdrop', [payer.address, 100n * SOL]);
  await rig.finalize();
});
afterAll(() => rig?.close());

const blockhash = async (commitment = 'processed'): Promise<string> => {
  const { value } = await rig.result('getLatestBlockhash', [{ commitment }]);
  return value.blockhash;
};
/** A distinct amount per transfer. */
let amount = SOL;
const someTransfer = async (commitment = 'processed'): Promise<Signed> =>
  sign(payer, [transfer(payer.address, recipient, amount++)], await blockhash(commitment));
const BASE64 = { encoding: 'base64', preflightCommitment: 'processed' };

describe('sendTransaction', () => {
  it('runs a transaction in the open slot and returns its first signature', async () => {
    const sent = await someTransfer();
    expect(await rig.result('sendTransaction', [sent.base64, BASE64])).toBe(sent.signature);
    expect((await rig.result('getSignatureStatuses', [[sent.signature]])).value).toEqual([null]);
    rig.freeze();
    expect((await rig.result('getSignatureStatuses', [[sent.signature]])).value).toMatchObject([
      { confirmationStatus: 'processed', confirmations: 1, err: null, status: { Ok: null } },
    ]);
  });

  it('accepts base58 by default', async () => {
    const sent = await someTransfer('finalized');
    expect(await rig.result('sendTransaction', [sent.base58])).toBe(sent.signature);
    const other = await someTransfer('finalized');
    expect(await rig.result('sendTransaction', [other.base58, { encoding: 'binary' }])).toBe(other.signature);
  });

  it.each([
    [
      'a character outside base58',
      ['3yZe0'],
      "invalid base58 encoding: InvalidCharacter { character: '0', index: 4 }",
    ],
    [
      'too much base58',
      ['1'.repeat(1684)],
      `base58 encoded ${TRANSACTION} too large: 1684 bytes (max: encoded/raw 1683/1232)`,
    ],
    [
      'more than 1,232 bytes',
      ['A'.repeat(1644), BASE64],
      `decoded ${TRANSACTION} too large: 1233 bytes (max: 1232 bytes)`,
    ],
    [
      'a response encoding',
      ['', { encoding: 'jsonParsed' }],
      'unsupported encoding: jsonParsed. Supported encodings: base58, base64',
    ],
  ])('rejects %s with -32602', async (_name, params, message) => {
    expect(await rig.error('sendTransaction', params)).toEqual({ code: -32602, message });
  });

  const refusal = (message: string, data: object) => ({
    code: -32002,
    message: `Transaction simulation failed: ${message}`,
    data: {
      accounts: null,
      err: null,
      fee: null,
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
      ...data,
    },
  });

  it('returns the simulation of a failed preflight', async () => {
    const poor = sign(payer, [transfer(payer.address, recipient, 1_000_000n * SOL)], await blockhash());
    const seen = await rig.error('sendTransaction', [poor.base64, BASE64]);
    expect(seen).toMatchObject(
      refusal('Error processing Instruction 0: custom program error: 0x1', {
        err: { InstructionError: [0, { Custom: 1 }] },
        fee: 5000,
        logs: expect.arrayContaining(['Program 11111111111111111111111111111111 invoke [1]']),
        loadedAccountsDataSize: expect.any(Number),
        unitsConsumed: 150,
      }),
    );
  });

  it.each([
    [
      'a payer without account',
      async () => sign(Keypair.generate(), [memo('x')], await blockhash()),
      'Attempt to debit an account but found no record of a prior credit.',
      'AccountNotFound',
    ],
    [
      'an invalid signature',
      async () => sign(payer, [memo('x')], await blockhash(), Keypair.generate()),
      'Transaction did not pass signature verification',
      'SignatureFailure',
    ],
  ])('rejects %s in preflight', async (_name, make, message, err) => {
    const { base64 } = await make();
    expect(await rig.error('sendTransaction', [base64, BASE64])).toEqual(refusal(message, { err }));
  });

  it('rejects a processed transaction in preflight only', async () => {
    const sent = await someTransfer();
    await rig.result('sendTransaction', [sent.base64, BASE64]);
    rig.freeze();
    expect(await rig.error('sendTransaction', [sent.base64, BASE64])).toEqual(
      refusal('This transaction has already been processed', { err: 'AlreadyProcessed' }),
    );
    const before = rig.node.bank('processed').account(recipient)?.lamports;
    expect(await rig.result('sendTransaction', [sent.base64, { ...BASE64, skipPreflight: true }])).toBe(
      sent.signature,
    );
    rig.freeze();
    expect(rig.node.bank('processed').account(recipient)?.lamports).toBe(before);
  });

  it('returns the signature without preflight whatever the outcome', async () => {
    const skip = { ...BASE64, skipPreflight: true };
    const unsigned = sign(payer, [memo('unsigned')], await blockhash(), null);
    const failing = sign(payer, [transfer(payer.address, recipient, 1_000_000n * SOL)], await blockhash());
    expect(await rig.result('sendTransaction', [unsigned.base64, skip])).toBe(unsigned.signature);
    expect(await rig.result('sendTransaction', [failing.base64, skip])).toBe(failing.signature);
    rig.freeze();
    const { value } = await rig.result('getSignatureStatuses', [[unsigned.signature, failing.signature]]);
    const err = { InstructionError: [0, { Custom: 1 }] };
    expect(value).toMatchObject([null, { err, status: { Err: err } }]);
  });
});

describe('trailing bytes of a transaction', () => {
  const withTail = (base64: string): string =>
    Buffer.concat([Buffer.from(base64, 'base64'), Buffer.of(1, 2, 3)]).toString('base64');

  it('are accepted when sent, but the transaction never lands', async () => {
    const sent = await someTransfer();
    expect(await rig.result('sendTransaction', [withTail(sent.base64), BASE64])).toBe(sent.signature);
    rig.freeze();
    expect((await rig.result('getSignatureStatuses', [[sent.signature]])).value).toEqual([null]);
  });
});

describe('simulateTransaction', () => {
  const simulate = async (data: string, config: object = {}) =>
    (
      await rig.result('simulateTransaction', [
        data,
        { encoding: 'base64', commitment: 'processed', ...config },
      ])
    ).value;

  it('returns the outcome without effect', async () => {
    const { base64 } = await someTransfer();
    const balance = rig.node.bank('processed').account(payer.address)?.lamports;
    const value = await simulate(base64);
    expect(Object.keys(value)).toEqual([
      'accounts',
      'err',
      'fee',
      'innerInstructions',
      'loadedAccountsDataSize',
      'loadedAddresses',
      'logs',
      'postBalances',
      'postTokenBalances',
      'preBalances',
      'preTokenBalances',
      'replacementBlockhash',
      'returnData',
      'unitsConsumed',
    ]);
    expect(value).toMatchObject({
      accounts: null,
      err: null,
      fee: 5000,
      innerInstructions: null,
      loadedAddresses: { readonly: [], writable: [] },
      postTokenBalances: [],
      replacementBlockhash: null,
      returnData: null,
      unitsConsumed: 150,
    });
    expect(value.preBalances[0] - value.postBalances[0]).toBe(Number(amount - 1n) + 5000);
    rig.freeze();
    expect(rig.node.bank('processed').account(payer.address)?.lamports).toBe(balance);
  });

  it('returns the fee of a transaction that can only be charged', async () => {
    const absent = Keypair.generate().address;
    const nothing = { programId: absent, accounts: [], data: new Uint8Array() };
    const { base64 } = sign(payer, [nothing], await blockhash());
    const value = await simulate(base64, { innerInstructions: true });
    expect(value).toMatchObject({
      err: 'ProgramAccountNotFound',
      fee: 5000,
      innerInstructions: null,
      logs: [],
      unitsConsumed: 0,
    });
    expect(value.preBalances[0] - value.postBalances[0]).toBe(5000);
  });

  it('rejects a blockhash too old to reach a leader', async () => {
    const sent = await someTransfer();
    rig.freeze(144);
    expect((await simulate(sent.base64)).err).toBeNull();
    rig.freeze();
    expect((await simulate(sent.base64)).err).toBe('BlockhashNotFound');
    const skip = { ...BASE64, skipPreflight: true };
    expect(await rig.result('sendTransaction', [sent.base64, skip])).toBe(sent.signature);
    rig.freeze();
    expect((await rig.result('getSignatureStatuses', [[sent.signature]])).value).toMatchObject([
      { err: null },
    ]);
  });

  it('replaces the blockhash on request', async () => {
    const { base64 } = sign(payer, [transfer(payer.address, recipient, 1n)], UNKNOWN_HASH);
    expect(await simulate(base64)).toMatchObject({ err: 'BlockhashNotFound', replacementBlockhash: null });
    const lastValidBlockHeight = Number(rig.node.bank('processed').blockHeight) + 150;
    expect(await simulate(base64, { replaceRecentBlockhash: true })).toMatchObject({
      err: null,
      replacementBlockhash: { blockhash: await blockhash(), lastValidBlockHeight },
    });
  });

  it('returns accounts after the run', async () => {
    const fresh = Keypair.generate().address;
    const { base64 } = sign(payer, [transfer(payer.address, fresh, SOL)], await blockhash());
    const value = await simulate(base64, { accounts: { encoding: 'base64', addresses: [fresh] } });
    expect(value.accounts).toEqual([
      {
        data: ['', 'base64'],
        executable: false,
        lamports: Number(SOL),
        owner: '11111111111111111111111111111111',
        rentEpoch: 18446744073709552000,
        space: 0,
      },
    ]);
    const failing = sign(payer, [transfer(payer.address, fresh, 1_000_000n * SOL)], await blockhash());
    expect(
      (await simulate(failing.base64, { accounts: { addresses: [fresh, payer.address] } })).accounts,
    ).toEqual([null, null]);
  });

  it('lists parsed inner instructions and parses created accounts on request', async () => {
    const ata = associatedTokenAccount(payer.address, nativeMint);
    const { base64 } = sign(payer, [ata.create], await blockhash());
    expect((await simulate(base64)).innerInstructions).toBeNull();
    const accounts = { encoding: 'jsonParsed', addresses: [ata.address] };
    const value = await simulate(base64, { innerInstructions: true, accounts });
    expect(value).toMatchObject({
      err: null,
      accounts: [
        { data: { program: 'spl-token', parsed: { info: { mint: nativeMint, owner: payer.address } } } },
      ],
      postTokenBalances: [{ mint: nativeMint, owner: payer.address }],
    });
    const [{ index, instructions }] = value.innerInstructions;
    expect(index).toBe(0);
    expect(instructions).toContainEqual(
      expect.objectContaining({
        program: 'system',
        parsed: expect.objectContaining({ type: 'createAccount' }),
      }),
    );
  });

  it('parses token accounts of mints created in the run', async () => {
    const mint = Keypair.generate();
    const ata = associatedTokenAccount(payer.address, mint.address);
    const made = signAll(
      [payer, mint],
      [...newMint(payer.address, mint.address, 6), ata.create],
      await blockhash(),
    );
    const accounts = { encoding: 'jsonParsed', addresses: [ata.address, mint.address] };
    expect(await simulate(made.base64, { sigVerify: true, accounts })).toMatchObject({
      err: null,
      accounts: [
        { data: { parsed: { type: 'account', info: { tokenAmount: { amount: '0', decimals: 6 } } } } },
        { data: { parsed: { type: 'mint', info: { decimals: 6, mintAuthority: payer.address } } } },
      ],
    });
  });

  it.each([
    [
      'verification with replacement',
      { sigVerify: true, replaceRecentBlockhash: true },
      'sigVerify may not be used with replaceRecentBlockhash',
    ],
    [
      'accounts in base58',
      { accounts: { encoding: 'base58', addresses: [] } },
      'base58 encoding not supported',
    ],
    [
      'more accounts than the transaction has',
      { accounts: { addresses: ['a', 'b', 'c', 'd'] } },
      'Too many accounts provided; max 3',
    ],
    ['an invalid account address', { accounts: { addresses: ['0'] } }, 'Invalid param: Invalid'],
    ['accounts without addresses', { accounts: {} }, 'Invalid params: missing field `addresses`.'],
    [
      'a response encoding',
      { encoding: 'json' },
      'unsupported encoding: json. Supported encodings: base58, base64',
    ],
  ])('rejects %s with -32602', async (_name, config, message) => {
    const { base64 } = await someTransfer();
    const params = [base64, { encoding: 'base64', commitment: 'processed', ...config }];
    expect(await rig.error('simulateTransaction', params)).toEqual({ code: -32602, message });
  });
});

describe('ledger with small blocks', () => {
  it('queues transactions according to maxRetries, then rejects', async () => {
    const small = await openRig({ blockCostMax: 4000n, waitingMaxTransactions: 1 });
    try {
      await small.result('requestAirdrop', [payer.address, 100n * SOL]);
      small.freeze();
      const { value } = await small.result('getLatestBlockhash', [{ commitment: 'processed' }]);
      const config = { encoding: 'base64', preflightCommitment: 'processed' };
      const made = [1n, 2n, 3n, 4n, 5n].map((lamports) =>
        sign(payer, [transfer(payer.address, recipient, SOL + lamports)], value.blockhash),
      );
      const [first, second, gone, waits, refused] = made as [Signed, Signed, Signed, Signed, Signed];
      await small.result('sendTransaction', [first.base64, config]);
      await small.result('sendTransaction', [second.base64, config]);
      expect(await small.result('sendTransaction', [gone.base64, { ...config, maxRetries: 0 }])).toBe(
        gone.signature,
      );
      expect(await small.result('sendTransaction', [waits.base64, config])).toBe(waits.signature);
      const queueFull = {
        code: -32603,
        message: 'Too many transactions are waiting for block capacity; retry later',
      };
      expect(await small.error('sendTransaction', [refused.base64, config])).toEqual(queueFull);
      expect(await small.error('requestAirdrop', [recipient, 1])).toEqual(queueFull);
      small.freeze(2);
      const statuses = await small.result('getSignatureStatuses', [made.map(({ signature }) => signature)]);
      expect(statuses.value.map((status: { slot: number } | null) => status?.slot ?? null)).toEqual([
        2,
        2,
        null,
        3,
        null,
      ]);
    } finally {
      await small.close();
    }
  });
});

describe('halted ledger', () => {
  it('is unhealthy and rejects transactions', async () => {
    const { base64 } = await someTransfer();
    const failed = { failure: new Error('the disk is full') };
    const unhealthy = { code: -32005, message: 'Node is unhealthy', data: { numSlotsBehind: null } };
    expect(await rig.errorWith(failed, 'getHealth', [])).toEqual(unhealthy);
    expect(await rig.errorWith(failed, 'sendTransaction', [base64, BASE64])).toEqual(unhealthy);
    expect(await rig.errorWith(failed, 'requestAirdrop', [recipient, 1])).toEqual(unhealthy);
  });
});

describe('requestAirdrop', () => {
  it('uses the given blockhash', async () => {
    const to = Keypair.generate().address;
    const recentBlockhash = await blockhash('finalized');
    const signature = await rig.result('requestAirdrop', [to, SOL, { recentBlockhash }]);
    rig.freeze(2);
    const { transaction } = await rig.result('getTransaction', [signature, { commitment: 'confirmed' }]);
    expect(transaction.message.recentBlockhash).toBe(recentBlockhash);
  });

  it('returns a signature that never lands for an unknown blockhash', async () => {
    const recentBlockhash = UNKNOWN_HASH;
    const signature = await rig.result('requestAirdrop', [recipient, 77, { recentBlockhash }]);
    expect(signature).toMatch(/^[1-9A-HJ-NP-Za-km-z]{86,88}$/);
    rig.freeze(2);
    expect((await rig.result('getSignatureStatuses', [[signature]])).value).toEqual([null]);
  });

  it.each([
    ['an invalid address', ['l', 1], 'Invalid param: Invalid'],
    [
      'an invalid blockhash',
      ['11111111111111111111111111111111', 1, { recentBlockhash: '1' }],
      'Invalid param: WrongSize',
    ],
  ])('rejects %s with -32602', async (_name, params, message) => {
    expect(await rig.error('requestAirdrop', params)).toEqual({ code: -32602, message });
  });

  it('responds with -32603 when the faucet lacks funds', async () => {
    const to = Keypair.generate().address;
    expect(await rig.error('requestAirdrop', [to, 18446744073709551615n])).toEqual({
      code: -32603,
      message: 'Internal error',
    });
  });
});

describe('getFeeForMessage', () => {
  it('supports durable nonces', async () => {
    const nonce = Keypair.generate();
    const create = nonceAccount(payer.address, nonce.address, 1_447_680n);
    const made = signAll([payer, nonce], create, await blockhash());
    await rig.result('sendTransaction', [made.base64, BASE64]);
    rig.freeze();
    const account = rig.node.bank('processed').account(nonce.address);
    const value = decodeNonce(account?.data ?? new Uint8Array())?.data?.durableNonce ?? '';
    const advance = advanceNonce(nonce.address, payer.address);
    expect(await fee(sign(payer, [advance, memo('x')], value).message)).toBe(5_000);
    expect(await fee(sign(payer, [memo('x'), advance], value).message)).toBeNull();
    const spent = sign(payer, [advance, memo('x')], value);
    expect(await rig.result('sendTransaction', [spent.base64, BASE64])).toBe(spent.signature);
    rig.freeze();
    expect(await fee(spent.message)).toBeNull();
  });

  const fee = async (message: string) =>
    (await rig.result('getFeeForMessage', [message, { commitment: 'processed' }])).value;

  it('includes the unit price', async () => {
    const priced = sign(payer, [unitPrice(1_000_000n), memo('x')], await blockhash());
    // 200,000 units for the memo and 3,000 for the budget instruction, at one lamport each.
    expect(await fee(priced.message)).toBe(5_000 + 203_000);
  });

  it('is known for twice the life of the blockhash', async () => {
    const { message } = await someTransfer();
    rig.freeze(300);
    expect(await fee(message)).toBe(5_000);
    rig.freeze();
    expect(await fee(message)).toBeNull();
  });

  it.each([
    ['A', 'invalid base64 encoding: InvalidLength(1)'],
    ['AQI=', 'failed to deserialize solana_message::versions::VersionedMessage: Attempting to read 2 bytes'],
  ])('rejects %s', async (text, message) => {
    expect(await rig.error('getFeeForMessage', [text])).toEqual({ code: -32602, message });
  });
});

describe('getSignatureStatuses', () => {
  it('follows a transaction to finality', async () => {
    const sent = await someTransfer();
    await rig.result('sendTransaction', [sent.base64, BASE64]);
    const status = async () => (await rig.result('getSignatureStatuses', [[sent.signature]])).value[0];
    rig.freeze();
    expect(await status()).toMatchObject({ confirmationStatus: 'processed', confirmations: 1 });
    rig.freeze();
    expect(await status()).toMatchObject({ confirmationStatus: 'confirmed', confirmations: 2 });
    rig.freeze(29);
    expect(await status()).toMatchObject({ confirmationStatus: 'confirmed', confirmations: 31 });
    await rig.finalize(1);
    expect(await status()).toEqual({
      confirmationStatus: 'finalized',
      confirmations: null,
      err: null,
      slot: rig.slot('finalized'),
      status: { Ok: null },
    });
  });

  it('reports finalized history only', async () => {
    const sent = await someTransfer();
    await rig.result('sendTransaction', [sent.base64, BASE64]);
    rig.freeze();
    const forgotten = { recentStatus: () => null };
    const callRpc = async () =>
      (
        await rig.resultWith(forgotten, 'getSignatureStatuses', [
          [sent.signature],
          { searchTransactionHistory: true },
        ])
      ).value;
    expect(await callRpc()).toEqual([null]);
    await rig.finalize();
    expect(await callRpc()).toMatchObject([{ confirmationStatus: 'finalized' }]);
  });

  it('searches history only on request', async () => {
    const sent = await someTransfer();
    await rig.result('sendTransaction', [sent.base64, BASE64]);
    await rig.finalize(320);
    const callRpc = async (config: object | null) =>
      (await rig.result('getSignatureStatuses', [[sent.signature, UNKNOWN_SIGNATURE], config])).value;
    expect(await callRpc(null)).toEqual([null, null]);
    expect(await callRpc({ searchTransactionHistory: true })).toMatchObject([
      { confirmationStatus: 'finalized', confirmations: null, err: null },
      null,
    ]);
  });

  it.each([
    ['257 signatures', [Array(257).fill('1')], 'Too many inputs provided; max 256'],
    ['an empty config', [[], {}], 'Invalid params: missing field `searchTransactionHistory`.'],
  ])('rejects %s', async (_name, params, message) => {
    expect(await rig.error('getSignatureStatuses', params)).toEqual({ code: -32602, message });
  });
});

describe('getRecentPrioritizationFees', () => {
  it('returns the lowest landed price, also per account lock', async () => {
    const hash = await blockhash();
    const other = Keypair.generate().address;
    for (const [price, to] of [
      [1000n, recipient],
      [3000n, other],
    ] as const) {
      const priced = [unitPrice(price), unitLimit(10_000), transfer(payer.address, to, SOL)];
      const { base64 } = sign(payer, priced, hash);
      await rig.result('sendTransaction', [base64, BASE64]);
    }
    rig.freeze(2);
    const slot = rig.slot('confirmed');
    const last = async (accounts?: string[]) =>
      (await rig.result('getRecentPrioritizationFees', accounts === undefined ? [] : [accounts])).at(-1);
    expect(await last()).toEqual({ prioritizationFee: 1000, slot });
    expect(await last([other])).toEqual({ prioritizationFee: 3000, slot });
    expect(await last([recipient])).toEqual({ prioritizationFee: 1000, slot });
  });

  it('rounds the fee to lamports, which may exceed the offer', async () => {
    // 7 millionths of a lamport for each of 6,000 units cost a whole lamport.
    const { base64 } = sign(
      payer,
      [unitPrice(7n), transfer(payer.address, recipient, SOL)],
      await blockhash(),
    );
    await rig.result('sendTransaction', [base64, BASE64]);
    rig.freeze(2);
    expect((await rig.result('getRecentPrioritizationFees', [])).at(-1).prioritizationFee).toBe(166);
  });

  it('ignores transactions without unit request', async () => {
    const none = sign(payer, [unitPrice(3n), unitLimit(0)], await blockhash());
    const some = sign(payer, [unitPrice(8000n), unitLimit(100_000), memo('x')], await blockhash());
    for (const { base64 } of [none, some]) {
      await rig.result('sendTransaction', [base64, { ...BASE64, skipPreflight: true }]);
    }
    rig.freeze(2);
    expect((await rig.result('getRecentPrioritizationFees', [])).at(-1)).toMatchObject({
      prioritizationFee: 8000,
    });
  });

  it('rejects more than 128 accounts', async () => {
    expect(await rig.error('getRecentPrioritizationFees', [Array(129).fill('1')])).toEqual({
      code: -32602,
      message: 'Too many inputs provided; max 128',
    });
  });
});
