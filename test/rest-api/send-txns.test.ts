import { Keypair } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { decoded } from '../../packages/localnet/test/ledger/lab.ts';
import { Failure, type FailureCode } from '../../src/protocol/errors.ts';
import { NodeRejection } from '../../src/protocol/rest/node-rejection.ts';
import { sendManyTxns } from '../../src/rest-api/transaction/send_many_txns.ts';
import { sendTxn } from '../../src/rest-api/transaction/send_txn.ts';
import { eventually } from '../service/eventually.ts';
import { ScriptedFeed } from '../streams/scripted-feed.ts';
import { SubmissionFixture } from './submission-fixture.ts';

let scene: SubmissionFixture;
let freezing: NodeJS.Timeout | undefined;
beforeAll(async () => {
  scene = await SubmissionFixture.open();
});
afterEach(() => clearInterval(freezing));
afterAll(() => scene.close());
beforeEach(() => {
  scene.answering = () => undefined;
  scene.calls.splice(0);
});

const someone = () => Keypair.generate().publicKey;

/** Freezes slots continuously, `slots` at a time. */
function freeze(slots = 1): void {
  clearInterval(freezing);
  freezing = setInterval(() => scene.lab.freeze(slots), 10);
}

const count = (methods: readonly string[], method: string): number =>
  methods.filter((one) => one === method).length;

/** Node that accepts transactions and drops them. */
const takesAndDrops = (method: string) => (method === 'sendTransaction' ? 'taken' : undefined);

/** Failures of the pool when no node received the call, and when one may have. */
const away = new Failure('UPSTREAM_UNAVAILABLE', { facts: { network: 'devnet' } });
const unseen = (code: FailureCode) => new Failure(code, { facts: { network: 'devnet', outcome: 'unknown' } });

describe('transaction/send_txn', () => {
  it('returns the signature before the transaction lands', async () => {
    const to = someone();
    const { text, signature } = scene.transfer(scene.lab.wallet(), to, 1);
    expect(await scene.answer(sendTxn, { encoded_transaction: text })).toEqual({ signature });
    expect(scene.calls).toEqual(['sendTransaction']);
    expect(scene.lab.balance(to)).toBeNull();
    scene.lab.freeze();
    expect(scene.lab.balance(to)).toBe(1_000_000_000n);
  });

  it("returns the node's rejection", async () => {
    const { text } = scene.transfer(scene.lab.wallet(), someone(), 100);
    const failure = await scene.failure(sendTxn, { encoded_transaction: text });
    expect(failure).toMatchObject({
      code: 'TRANSACTION_REFUSED',
      error: {
        code: -32002,
        message: expect.stringContaining('Transaction simulation failed'),
        data: { err: { InstructionError: [0, { Custom: 1 }] } },
      },
    });
  });

  it('does not blame the transaction for a node error', async () => {
    const error = { code: -32005, message: 'Node is behind by 150 slots' };
    scene.answering = () => {
      throw new NodeRejection(error);
    };
    const { text } = scene.transfer(scene.lab.wallet(), someone(), 1);
    const failure = await scene.failure(sendTxn, { encoded_transaction: text });
    expect(failure).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', error });
  });

  it.each([
    ['did not respond in time', () => Promise.reject(unseen('UPSTREAM_TIMEOUT'))],
    ['returned no signature', async () => ({})],
  ])('returns the signature when a node %s', async (_, ending) => {
    scene.answering = ending;
    const { text, signature } = scene.transfer(scene.lab.wallet(), someone(), 1);
    const failure = await scene.failure(sendTxn, { encoded_transaction: text });
    expect(failure).toMatchObject({ facts: { outcome: 'unknown', signature } });
  });

  it('returns no signature when no node received the transaction', async () => {
    scene.answering = () => {
      throw away;
    };
    const { text } = scene.transfer(scene.lab.wallet(), someone(), 1);
    expect(await scene.failure(sendTxn, { encoded_transaction: text })).toBe(away);
  });

  it.each([
    ['nothing', undefined],
    ['truncated base64', 'AQA'],
    ['oversized data', 'A'.repeat(1_000_000)],
  ])('names the field that holds %s', async (_, encoded_transaction) => {
    const failure = await scene.failure(sendTxn, { encoded_transaction });
    expect(failure).toMatchObject({ code: 'INVALID_FIELDS', problems: [{ field: 'encoded_transaction' }] });
    expect(scene.calls).toEqual([]);
  });

  it.each([-1, 1])('rejects a transaction with %i byte too many', async (bytes) => {
    const wire = Buffer.from(scene.transfer(scene.lab.wallet(), someone(), 1).text, 'base64');
    const other = bytes < 0 ? wire.subarray(0, -1) : Buffer.concat([wire, Buffer.alloc(1)]);
    const failure = await scene.failure(sendTxn, { encoded_transaction: other.toString('base64') });
    expect(failure).toMatchObject({ code: 'INVALID_FIELDS' });
  });
});

describe('transaction/send_many_txns', () => {
  it('reports outcomes in request order', async () => {
    const [from, poor] = [scene.lab.wallet(), scene.lab.wallet()];
    const first = scene.transfer(from, someone(), 1);
    const refused = scene.transfer(from, someone(), 100);
    const landed = scene.transfer(poor, someone(), 8);
    // Either can succeed unless the other lands first.
    const failed = scene.transfer(poor, someone(), 9);
    const texts = [first, refused, landed, first].map(({ text }) => text);
    const sending = scene.answer(sendManyTxns, { encoded_transactions: texts, commitment: 'confirmed' });
    await eventually(async () => scene.confirmations.size === 3, 'all are waited for');
    const later = scene.answer(sendManyTxns, {
      encoded_transactions: [failed.text],
      commitment: 'confirmed',
    });
    await eventually(async () => scene.confirmations.size === 4, 'the last is waited for');
    freeze();
    expect(await sending).toEqual([
      { id: 1, signature: first.signature, status: 'confirmed' },
      {
        id: 2,
        signature: refused.signature,
        error: expect.objectContaining({
          code: -32002,
          data: expect.objectContaining({ unitsConsumed: 150 }),
        }),
        status: null,
      },
      { id: 3, signature: landed.signature, status: 'confirmed' },
      { id: 4, signature: first.signature, status: 'confirmed' },
    ]);
    expect(await later).toEqual([
      {
        id: 1,
        signature: failed.signature,
        error: {
          code: -32084,
          message:
            'The transaction failed on chain: Error processing Instruction 0: custom program error: 0x1',
          data: { err: { InstructionError: [0, { Custom: 1 }] } },
        },
        status: 'confirmed',
      },
    ]);
    expect(count(scene.calls, 'sendTransaction')).toBe(4);
    expect(count(scene.calls, 'getLatestBlockhash')).toBe(2);
    expect(scene.confirmations.size).toBe(0);
  });

  it('waits for finalized by default', async () => {
    const { text, signature } = scene.transfer(scene.lab.wallet(), someone(), 1);
    freeze();
    expect(await scene.answer(sendManyTxns, { encoded_transactions: [text] })).toEqual([
      { id: 1, signature, status: 'finalized' },
    ]);
    const status = scene.lab.node.recentStatus(signature as never)!;
    expect(status.slot).toBeLessThanOrEqual(scene.lab.node.bank('finalized').slot);
  });

  it('reports an expired blockhash', async () => {
    scene.answering = takesAndDrops;
    const { text, signature } = scene.transfer(scene.lab.wallet(), someone(), 1);
    const sending = scene.answer(sendManyTxns, { encoded_transactions: [text], commitment: 'confirmed' });
    freeze();
    expect(await sending).toEqual([
      {
        id: 1,
        signature,
        error: { code: -32085, message: new Failure('TRANSACTION_EXPIRED').text },
        status: null,
      },
    ]);
  });

  it('waits for a transaction on a durable nonce', async () => {
    const from = scene.lab.wallet();
    const { blockhash, advance } = scene.nonce(from);
    scene.lab.freeze(400);
    const { text, signature } = scene.signed([from], [advance], blockhash);
    freeze();
    const sent = { encoded_transactions: [text], commitment: 'confirmed' };
    expect(await scene.answer(sendManyTxns, sent)).toEqual([{ id: 1, signature, status: 'confirmed' }]);
  });

  it('names an invalid transaction and sends none', async () => {
    const { text } = scene.transfer(scene.lab.wallet(), someone(), 1);
    const failure = await scene.failure(sendManyTxns, { encoded_transactions: [text, text, 'AAAA'] });
    expect(failure).toMatchObject({ problems: [{ field: 'encoded_transactions[2]' }] });
    expect(scene.calls).toEqual([]);
  });

  it('fails without any node, and reports each outcome if some were sent', async () => {
    const from = scene.lab.wallet();
    const all = [1, 2].map((sol) => scene.transfer(from, someone(), sol));
    const fields = { encoded_transactions: all.map(({ text }) => text), commitment: 'processed' };
    scene.answering = () => {
      throw away;
    };
    expect(await scene.failure(sendManyTxns, fields)).toBe(away);
    scene.answering = (method, [text]) => {
      if (method === 'sendTransaction' && text === all[1]!.text) throw away;
      return undefined;
    };
    freeze();
    expect(await scene.answer(sendManyTxns, fields)).toEqual([
      { id: 1, signature: all[0]!.signature, status: expect.any(String) },
      { id: 2, signature: all[1]!.signature, error: { code: -32050, message: away.text }, status: null },
    ]);
  });

  it('waits for a transaction with an unknown outcome', async () => {
    const from = scene.lab.wallet();
    const all = [1, 2].map((sol) => scene.transfer(from, someone(), sol));
    const sent = { encoded_transactions: all.map(({ text }) => text), commitment: 'confirmed' };
    scene.answering = (method, [text]) => {
      if (method !== 'sendTransaction') return undefined;
      scene.lab.node.submit(decoded(Buffer.from(String(text), 'base64')));
      throw unseen('UPSTREAM_TIMEOUT');
    };
    freeze();
    expect(await scene.answer(sendManyTxns, sent)).toEqual(
      all.map(({ signature }, at) => ({ id: at + 1, signature, status: 'confirmed' })),
    );
  });

  it('reports sent transactions when the request times out', async () => {
    const feed = new ScriptedFeed();
    const late = scene.withSameLedger({ feed });
    const { text, signature } = scene.transfer(scene.lab.wallet(), someone(), 1);
    const sending = late.answer(sendManyTxns, { encoded_transactions: [text] });
    await eventually(async () => feed.openings.length === 1, 'it is waited for');
    late.leaving.abort(new Failure('UPSTREAM_TIMEOUT'));
    expect(await sending).toEqual([
      { id: 1, signature, status: null, error: { code: -32086, message: expect.any(String) } },
    ]);
  });

  it('stops when the client disconnects', async () => {
    const feed = new ScriptedFeed();
    const leaver = scene.withSameLedger({ feed });
    const { text } = scene.transfer(scene.lab.wallet(), someone(), 1);
    const sending = leaver.failure(sendManyTxns, { encoded_transactions: [text] });
    await eventually(async () => feed.openings.length === 1, 'it is waited for');
    leaver.leaving.abort(new Failure('CLIENT_GONE'));
    expect(await sending).toMatchObject({ code: 'CLIENT_GONE' });
    expect(leaver.confirmations.size).toBe(0);
    expect(feed.live).toEqual([]);
  });
});
