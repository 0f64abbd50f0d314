import { Keypair, SystemProgram } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from '../../packages/localnet/test/rig.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { Failure } from '../../src/protocol/errors.ts';
import { NodeRejection } from '../../src/protocol/rest/node-rejection.ts';
import { history } from '../../src/rest-api/transaction/history.ts';
import { parseSelected } from '../../src/rest-api/transaction/parse_selected.ts';
import { parsed } from '../../src/rest-api/transaction/parsed.ts';
import { raw } from '../../src/rest-api/transaction/raw.ts';
import { transactionHistory } from '../../src/rest-api/wallet/transaction_history.ts';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { type Answering, answerOf, failureOf, LedgerCaller } from './ledger-caller.ts';
import { TransactionSender } from './transaction-sender.ts';

const COUNT = 12;
const MISSING = encodeBase58(new Uint8Array(64).fill(7));

let rig: Rig;
let caller: LedgerCaller;
const payer = Keypair.generate();
const account = String(payer.publicKey);
/** Newest first. */
const signatures: string[] = [];

beforeAll(async () => {
  rig = await openRig();
  caller = new LedgerCaller(rig);
  const sending = new TransactionSender(rig);
  const faucet = sending.wallet();
  for (let i = 0; i < COUNT; i++) {
    const keys = { fromPubkey: faucet.publicKey, toPubkey: payer.publicKey };
    signatures.unshift(
      sending.send([faucet], [SystemProgram.transfer({ ...keys, lamports: 1_000_000 + i })]),
    );
  }
  rig.freeze();
});
afterAll(() => rig.close());
afterEach(() => {
  caller.answering = () => undefined;
  caller.counts();
});

type Parsed = { signatures: string[]; events?: unknown; raw?: { transaction: { signatures: string[] } } };

const actual = async (fields: { [name: string]: JsonValue } = {}): Promise<Parsed[]> =>
  (await answerOf(history, { account, ...fields }, caller)).result as Parsed[];

const names = (transactions: readonly Parsed[]): string[] =>
  transactions.map((one) => one.signatures[0] ?? '');

const listed = (signature: string): JsonValue => ({ signature, blockTime: null });

/** Makes calls fail or return null a number of times. */
const failingTimes =
  (times: number, trouble: (signature: string) => Promise<JsonValue> | undefined): Answering =>
  ({ method, params: [signature] }) => {
    const calls = caller.calls.filter((made) => made.method === method && made.params[0] === signature);
    return method === 'getTransaction' && calls.length <= times ? trouble(String(signature)) : undefined;
  };

describe('transaction/history', () => {
  it('returns ten transactions by default, newest first, with one call each', async () => {
    const { message, result } = await answerOf(history, { account }, caller);
    expect(message).toBe('Transaction history fetched successfully');
    expect(names(result as Parsed[])).toEqual(signatures.slice(0, 10));
    expect(caller.counts()).toEqual({ getSignaturesForAddress: 1, getTransaction: 10 });
    expect(names(await actual({ tx_num: 100 }))).toEqual(signatures);
    expect(names(await actual({ tx_num: 1 }))).toEqual(signatures.slice(0, 1));
  });

  it('honors before and until', async () => {
    const before = { before_tx_signature: signatures[3]! };
    const until = { until_tx_signature: signatures[6]! };
    expect(names(await actual({ ...before, tx_num: 4 }))).toEqual(signatures.slice(4, 8));
    expect(names(await actual(until))).toEqual(signatures.slice(0, 6));
    expect(names(await actual({ ...before, ...until }))).toEqual(signatures.slice(4, 6));
  });

  it.each([
    ['finalized', 1, () => Promise.resolve(signatures.slice(4, 8).map(listed))],
    ['absent', 2, () => Promise.resolve([])],
    ['unknown', 2, () => Promise.reject(new NodeRejection({ code: -32020, message: 'no' }))],
  ])('lists the page below a transaction that is %s at finalized', async (_what, lists, finalized) => {
    caller.answering = ({ method, params }) =>
      method === 'getSignaturesForAddress' && JSON.stringify(params).includes('"finalized"')
        ? finalized()
        : undefined;
    expect(names(await actual({ before: signatures[3]!, tx_num: 4 }))).toEqual(signatures.slice(4, 8));
    expect(caller.counts()).toMatchObject({ getSignaturesForAddress: lists });
  });

  it.each([{ before: MISSING }, { until: MISSING }])('returns 404 for %j', async (end) => {
    const text = `Transaction ${MISSING} not found on mainnet-beta`;
    const other = JSON.stringify(end).includes('before')
      ? { until: signatures[5]! }
      : { before: signatures[0]! };
    for (const ends of [end, { ...other, ...end }]) {
      const failed = await failureOf(history, { account, ...ends }, caller);
      expect(failed).toMatchObject({ code: 'TRANSACTION_NOT_FOUND', text });
    }
  });

  it('includes raw transactions and events only when requested', async () => {
    const [bare] = await actual({ tx_num: 1 });
    expect(Object.keys(bare!)).toEqual(expect.not.arrayContaining(['events', 'raw']));
    const [full] = await actual({ tx_num: 1, enable_raw: true, enable_events: true });
    expect(Object.keys(full!).slice(-2)).toEqual(['events', 'raw']);
    expect(full).toMatchObject({ events: [], raw: { transaction: { signatures: [signatures[0]] } } });
  });

  it.each([0, 101])('accepts 1 to 100 transactions, not %s', async (tx_num) => {
    const refused = await failureOf(history, { account, tx_num }, caller);
    expect(refused.problems).toEqual([{ field: 'tx_num', message: 'must be a whole number from 1 to 100' }]);
    expect(caller.calls).toEqual([]);
  });

  it('ends at the history limit without reading older transactions', async () => {
    const now = Math.floor(Date.now() / 1000);
    const days = (count: number) => now - count * 86_400;
    const times = [now, null, days(3.9), days(4.1), days(300)];
    caller.answering = ({ method }) =>
      method === 'getSignaturesForAddress'
        ? Promise.resolve(times.map((blockTime, at) => ({ signature: signatures[at]!, blockTime })))
        : undefined;
    expect(names(await actual())).toEqual(signatures.slice(0, 3));
    expect(caller.counts()).toMatchObject({ getTransaction: 3 });
    const { result } = await answerOf(history, { account }, caller, {
      settings: { historyDays: 5, domainSuffix: '.sol' },
    });
    expect(names(result as Parsed[])).toEqual(signatures.slice(0, 4));
  });

  it.each([
    ['no transaction', () => Promise.resolve(null)],
    ['nonsense', () => Promise.resolve({ transaction: 7 })],
  ])('retries a transaction for which a node has %s', async (_, trouble) => {
    caller.answering = failingTimes(1, (signature) => (signature === signatures[2] ? trouble() : undefined));
    expect(names(await actual({ tx_num: 5 }))).toEqual(signatures.slice(0, 5));
    expect(caller.counts()).toMatchObject({ getTransaction: 6 });
  });

  it.each([
    ['UPSTREAM_UNAVAILABLE', () => Promise.resolve(null)],
    ['UPSTREAM_UNAVAILABLE', () => Promise.reject(new NodeRejection({ code: -32603, message: 'no' }))],
    ['UPSTREAM_TIMEOUT', () => Promise.reject(new Failure('UPSTREAM_TIMEOUT'))],
  ])('fails with %s rather than omit a transaction', async (code, trouble) => {
    caller.answering = failingTimes(2, (signature) => (signature === signatures[2] ? trouble() : undefined));
    expect(await failureOf(history, { account }, caller)).toMatchObject({ code });
  });

  it('has at most eight calls in flight', async () => {
    // Calls in flight of an earlier request do not count.
    const caller = new LedgerCaller(rig);
    let open = 0;
    let most = 0;
    caller.answering = ({ method }) => {
      if (method !== 'getTransaction') return undefined;
      most = Math.max(most, ++open);
      return new Promise<null>((resolve) => setImmediate(resolve, null)).then(() => {
        open--;
        throw new Failure('OVERLOADED');
      });
    };
    await failureOf(history, { account, tx_num: 100 }, caller);
    expect(most).toBe(8);
  });
});

describe('transaction/parse_selected', () => {
  const selected = async (transaction_signatures: string[], more: { [name: string]: JsonValue } = {}) =>
    (await answerOf(parseSelected, { transaction_signatures, ...more }, caller)).result as Parsed[];

  it('keeps the request order, reads each once and omits unknown ones', async () => {
    const requested = [signatures[5]!, MISSING, signatures[1]!, signatures[5]!];
    expect(names(await selected(requested))).toEqual([signatures[5], signatures[1], signatures[5]]);
    expect(caller.counts()).toEqual({ getTransaction: 3 });
    expect(await selected([MISSING])).toEqual([]);
  });

  it('accepts 1 to 100 signatures', async () => {
    for (const list of [[], new Array(101).fill(MISSING), ['abc'], undefined]) {
      const refused = await failureOf(parseSelected, { transaction_signatures: list! }, caller);
      expect(refused).toMatchObject({ code: 'INVALID_FIELDS' });
    }
    expect(await selected(new Array(100).fill(MISSING))).toEqual([]);
    expect(caller.counts()).toEqual({ getTransaction: 1 });
  });
});

describe('transaction/parsed', () => {
  it.each([parsed, raw])('names the missing transaction', async (endpoint) => {
    const failed = await failureOf(endpoint, { txn_signature: MISSING, network: 'devnet' }, caller);
    const text = `Transaction ${MISSING} not found on devnet`;
    expect(failed).toMatchObject({ code: 'TRANSACTION_NOT_FOUND', text });
  });

  it('requires a signature', async () => {
    const refused = await failureOf(parsed, { txn_signature: account }, caller);
    expect(refused.problems).toMatchObject([{ field: 'txn_signature' }]);
  });
});

it("transaction/raw returns the node's result with `parsed`", async () => {
  const { result } = await answerOf(raw, { txn_signature: signatures[0]! }, caller);
  const { parsed: meaning, ...rest } = result as { [name: string]: JsonValue };
  expect(rest).toEqual(
    await rig.callRpc('getTransaction', signatures[0]!, {
      ...{ encoding: 'jsonParsed', commitment: 'confirmed', maxSupportedTransactionVersion: 0 },
    }),
  );
  const { result: alone } = await answerOf(parsed, { txn_signature: signatures[0]! }, caller);
  expect(meaning).toEqual(alone);
});

it('wallet/transaction_history returns the same history in jsonParsed', async () => {
  const { result } = await answerOf(transactionHistory, { wallet: account, tx_num: 3 }, caller);
  const histories = await actual({ tx_num: 3, enable_raw: true });
  expect(result).toEqual(histories.map((one) => one.raw));
});
