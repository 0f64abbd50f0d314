import { Keypair, SystemProgram, Transaction, type TransactionInstruction } from '@solana/web3.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { at, SOL } from '../../packages/localnet/test/ledger/lab.ts';
import { openRig, type Rig } from '../../packages/localnet/test/rig.ts';
import type { JsonValue, WritableJson } from '../../src/base/json.ts';
import type { SentTransaction } from '../../src/gateway/rest/confirmations.ts';
import { Failure, type FailureCode } from '../../src/protocol/errors.ts';
import { NodeRejection } from '../../src/protocol/rest/node-rejection.ts';
import type { Confirmation } from '../../src/rest-api/services.ts';
import { sendManyTxns } from '../../src/rest-api/transaction/send_many_txns.ts';
import { sendTxn } from '../../src/rest-api/transaction/send_txn.ts';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { lamports } from '../../src/solana/units.ts';
import { answerOf, failureOf, LedgerCaller } from './ledger-caller.ts';

let rig: Rig;
let caller: LedgerCaller;
/** Awaited transactions, and their results by signature; the default is confirmed. */
const waits: SentTransaction[] = [];
const results = new Map<string, Partial<Confirmation> | Failure>();
const confirmations = {
  wait: async (sent: SentTransaction): Promise<Confirmation> => {
    waits.push(sent);
    const end = results.get(sent.signature);
    if (end instanceof Failure) throw end;
    return { status: 'confirmed', err: null, failure: null, ...end };
  },
};

beforeAll(async () => {
  rig = await openRig();
  rig.freeze();
});
afterAll(() => rig.close());
beforeEach(() => {
  caller = new LedgerCaller(rig);
  waits.length = 0;
  results.clear();
});

const balanceOf = ({ publicKey }: Keypair) => rig.node.bank('processed').account(at(publicKey))?.lamports;

function wallet(): Keypair {
  const keypair = Keypair.generate();
  rig.node.airdrop(at(keypair.publicKey), lamports(BigInt(10 * SOL)));
  rig.freeze();
  return keypair;
}

function signed(signers: Keypair[], instructions: TransactionInstruction[]) {
  const { blockhash } = rig.node.bank('processed');
  const transaction = new Transaction({ recentBlockhash: blockhash, feePayer: signers[0]!.publicKey });
  transaction.add(...instructions).sign(...signers);
  const text = transaction.serialize().toString('base64');
  return { text, signature: encodeBase58(transaction.signature!) };
}

function transfer(sol = 1, from = wallet(), to = Keypair.generate()) {
  const keys = { fromPubkey: from.publicKey, toPubkey: to.publicKey };
  return signed([from], [SystemProgram.transfer({ ...keys, lamports: sol * SOL })]);
}

const send = async (encoded_transaction: WritableJson) =>
  (await answerOf(sendTxn, { network: 'devnet', encoded_transaction }, caller)).result;
const sendFailure = (encoded_transaction: unknown) =>
  failureOf(sendTxn, { network: 'devnet', encoded_transaction: encoded_transaction as string }, caller);
const many = (all: readonly { text: string }[], commitment?: string) =>
  [
    sendManyTxns,
    {
      network: 'devnet',
      encoded_transactions: all.map(({ text }) => text),
      ...(commitment ? { commitment } : {}),
    },
    caller,
    { confirmations },
  ] as const;
const sendMany = async (...request: Parameters<typeof many>) => (await answerOf(...many(...request))).result;

const failing = (failure: Failure, isChosen = (_text: JsonValue) => true) => {
  caller.answering = ({ method, params: [text] }) =>
    method === 'sendTransaction' && isChosen(text as JsonValue) ? Promise.reject(failure) : undefined;
};

/** Failures of the pool when no node received the call, and when one may have. */
const down = new Failure('UPSTREAM_UNAVAILABLE', { facts: { network: 'devnet' } });
const unsure = (code: FailureCode) => new Failure(code, { facts: { network: 'devnet', outcome: 'unknown' } });

describe('transaction/send_txn', () => {
  it('returns the signature before the transaction lands', async () => {
    const to = Keypair.generate();
    const { text, signature } = transfer(1, wallet(), to);
    expect(await send(text)).toEqual({ signature });
    expect(caller.counts()).toEqual({ sendTransaction: 1 });
    expect(balanceOf(to)).toBeUndefined();
    rig.freeze();
    expect(balanceOf(to)).toBe(1_000_000_000n);
  });

  it("returns the node's rejection", async () => {
    expect(await sendFailure(transfer(100).text)).toMatchObject({
      code: 'TRANSACTION_REFUSED',
      error: { code: -32002, data: { err: { InstructionError: [0, { Custom: 1 }] } } },
    });
  });

  it('does not blame the transaction for a node error', async () => {
    const error = { code: -32005, message: 'Node is behind by 150 slots' };
    failing(new NodeRejection(error));
    expect(await sendFailure(transfer().text)).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', error });
  });

  it.each([
    ['did not respond in time', () => Promise.reject(unsure('UPSTREAM_TIMEOUT'))],
    ['returned no signature', async () => ({})],
  ])('returns the signature when a node %s', async (_, ending) => {
    caller.answering = ending;
    const { text, signature } = transfer();
    expect(await sendFailure(text)).toMatchObject({ facts: { outcome: 'unknown', signature } });
  });

  it('returns no signature when no node received the transaction', async () => {
    failing(down);
    expect(await sendFailure(transfer().text)).toBe(down);
  });

  it.each([
    ['nothing', undefined],
    ['truncated base64', 'AQA'],
    ['oversized data', 'A'.repeat(1_000_000)],
  ])('names the field that holds %s', async (_, text) => {
    const failure = await sendFailure(text);
    expect(failure).toMatchObject({ code: 'INVALID_FIELDS', problems: [{ field: 'encoded_transaction' }] });
    expect(caller.calls).toEqual([]);
  });

  it.each([-1, 1])('rejects a transaction with %i byte too many', async (bytes) => {
    const wire = Buffer.from(transfer().text, 'base64');
    const other = bytes < 0 ? wire.subarray(0, -1) : Buffer.concat([wire, Buffer.alloc(1)]);
    expect(await sendFailure(other.toString('base64'))).toMatchObject({ code: 'INVALID_FIELDS' });
  });
});

describe('transaction/send_many_txns', () => {
  it('reports outcomes in request order, and sends equal transactions once', async () => {
    const from = wallet();
    const [first, refused, failed, expired] = [1, 100, 2, 3].map((sol) => transfer(sol, from)) as [
      ...Array<ReturnType<typeof transfer>>,
    ];
    results.set(failed!.signature, { err: { InstructionError: [0, { Custom: 1 }] } });
    results.set(expired!.signature, { status: null, failure: new Failure('TRANSACTION_EXPIRED') });
    expect(await sendMany([first!, refused!, failed!, expired!, first!], 'confirmed')).toEqual([
      { id: 1, signature: first!.signature, status: 'confirmed' },
      {
        id: 2,
        signature: refused!.signature,
        error: expect.objectContaining({ code: -32002 }),
        status: null,
      },
      {
        id: 3,
        signature: failed!.signature,
        error: {
          code: -32084,
          message:
            'The transaction failed on chain: Error processing Instruction 0: custom program error: 0x1',
          data: { err: { InstructionError: [0, { Custom: 1 }] } },
        },
        status: 'confirmed',
      },
      {
        id: 4,
        signature: expired!.signature,
        error: { code: -32085, message: new Failure('TRANSACTION_EXPIRED').text },
        status: null,
      },
      { id: 5, signature: first!.signature, status: 'confirmed' },
    ]);
    expect(caller.counts()).toEqual({ sendTransaction: 4, getLatestBlockhash: 1 });
  });

  it('waits for finalized by default, until the newest blockhash expires', async () => {
    const { blockhash, blockHeight } = rig.node.bank('processed');
    const { text, signature } = transfer(1, wallet());
    await sendMany([{ text }]);
    expect(waits).toMatchObject([{ network: 'devnet', signature, commitment: 'finalized' }]);
    expect(waits[0]!.blockhash).not.toBe(blockhash);
    expect(waits[0]!.lastValidBlockHeight).toBe(blockHeight + 151n);
  });

  it('waits for a transaction on a durable nonce without a blockhash', async () => {
    const from = wallet();
    const keys = { noncePubkey: Keypair.generate().publicKey, authorizedPubkey: from.publicKey };
    caller.answering = async () => 'taken';
    const sent = signed([from], [SystemProgram.nonceAdvance(keys)]);
    expect(await sendMany([sent])).toMatchObject([{ id: 1, status: 'confirmed' }]);
    expect(waits).toMatchObject([{ blockhash: null, lastValidBlockHeight: null }]);
    expect(caller.counts()).toEqual({ sendTransaction: 1 });
  });

  it('names an invalid transaction and sends none', async () => {
    for (const count of [0, 101])
      expect(await failureOf(...many(Array(count).fill({ text: 'AAAA' })))).toMatchObject({
        problems: [{ field: 'encoded_transactions' }],
      });
    const failure = await failureOf(...many([transfer(), transfer(), { text: 'AAAA' }]));
    expect(failure).toMatchObject({ problems: [{ field: 'encoded_transactions[2]' }] });
    expect(caller.calls).toEqual([]);
  });

  it('fails without any node, and reports each outcome if some were sent', async () => {
    const all = [transfer(), transfer()];
    failing(down);
    expect(await failureOf(...many(all))).toBe(down);
    failing(down, (text) => text === all[1]!.text);
    expect(await sendMany(all)).toEqual([
      { id: 1, signature: all[0]!.signature, status: 'confirmed' },
      { id: 2, signature: all[1]!.signature, error: { code: -32050, message: down.text }, status: null },
    ]);
  });

  it('waits for a transaction with an unknown outcome', async () => {
    failing(unsure('UPSTREAM_TIMEOUT'));
    const { text, signature } = transfer();
    expect(await sendMany([{ text }])).toEqual([{ id: 1, signature, status: 'confirmed' }]);
  });

  it('reports sent transactions when the request times out, but not to a client that disconnected', async () => {
    const sent = transfer();
    results.set(sent.signature, new Failure('UPSTREAM_TIMEOUT'));
    expect(await sendMany([sent])).toEqual([
      {
        id: 1,
        signature: sent.signature,
        status: null,
        error: { code: -32086, message: expect.any(String) },
      },
    ]);
    const left = transfer();
    results.set(left.signature, new Failure('CLIENT_GONE'));
    expect(await failureOf(...many([left]))).toMatchObject({ code: 'CLIENT_GONE' });
  });
});
