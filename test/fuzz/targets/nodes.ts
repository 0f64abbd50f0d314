import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { parseNodeSettings } from '../../../src/app/upstreams/added-nodes.ts';
import { ByteBudget } from '../../../src/base/cache/byte-budget.ts';
import { parseJson, type WritableJson, writeJson } from '../../../src/base/json.ts';
import { isJson } from '../../../src/base/json-scan.ts';
import { createLogger } from '../../../src/base/log.ts';
import { ApiError } from '../../../src/control/api/api-error.ts';
import { contract } from '../../../src/control/api/contract/contract.ts';
import { loggedMessage, messageIn } from '../../../src/gateway/telemetry/error-detail.ts';
import type { RpcResponse } from '../../../src/protocol/call.ts';
import { methods } from '../../../src/protocol/methods.ts';
import { parseNodeError } from '../../../src/protocol/rest/node-rejection.ts';
import { address } from '../../../src/solana/address.ts';
import { MalformedJson } from '../../../src/solana/encoding/read-json.ts';
import { readBlockSteps } from '../../../src/solana/encoding/read-ui-block.ts';
import { encodeAccount, readAccount } from '../../../src/solana/encoding/ui-account.ts';
import { programs } from '../../../src/solana/programs.ts';
import { signatureFromBytes } from '../../../src/solana/signature.ts';
import { lamports, slot } from '../../../src/solana/units.ts';
import { WatchedTransaction } from '../../../src/upstream/confirmations/watched-transaction.ts';
import type { BodyFlow } from '../../../src/upstream/exchange.ts';
import { ChainReader, ReadError } from '../../../src/upstream/feeds/chain-reader.ts';
import { canonicalJson } from '../../../src/upstream/feeds/gap/account-gap.ts';
import { contextValue } from '../../../src/upstream/feeds/gap/gap-recovery.ts';
import { readAccounts } from '../../../src/upstream/feeds/gap/read-accounts.ts';
import { LateSignatures } from '../../../src/upstream/feeds/geyser/late-signatures.ts';
import { geyserLimits } from '../../../src/upstream/feeds/geyser/limits.ts';
import { MintCache } from '../../../src/upstream/feeds/geyser/mint-cache.ts';
import { feedLimits } from '../../../src/upstream/feeds/limits.ts';
import {
  readNodeMessage,
  readRoot,
  readSlotInfo,
  slotInfoJson,
} from '../../../src/upstream/feeds/pubsub-message.ts';
import { readSignatureStatuses } from '../../../src/upstream/feeds/signature-statuses.ts';
import { HttpResponseReader } from '../../../src/upstream/http-client/http-response-reader.ts';
import { CallKeys } from '../../../src/upstream/middleware/call-key.ts';
import { FinalizedRoots } from '../../../src/upstream/middleware/response-cache.ts';
import { ResponseCounts } from '../../../src/upstream/middleware/response-counts.ts';
import { type ResponseStore, StoreCache } from '../../../src/upstream/middleware/store-cache.ts';
import { locateResponse } from '../../../src/upstream/response/parse-response.ts';
import { PassthroughResponse } from '../../../src/upstream/response/passthrough-response.ts';
import { preflightFault } from '../../../src/upstream/retry/attempt.ts';
import { parseRetryAfter } from '../../../src/upstream/retry-after.ts';
import {
  readEpochInfo,
  readLeaderSchedule,
  readShredVersion,
} from '../../../src/upstream/shreds/leader-schedule.ts';
import { TableLoader } from '../../../src/upstream/shreds/lookup-tables.ts';
import { shredLimits } from '../../../src/upstream/shreds/shreds-config.ts';
import {
  contextSlot,
  memberOf,
  readObservedSlot,
  slotOfResult,
} from '../../../src/upstream/slots/context-slot.ts';
import { dispatcherOf } from '../../upstream/mock/dispatcher.ts';
import {
  callOf,
  resultOf,
  ScriptedDispatcher,
  ScriptedSlots,
} from '../../upstream/mock/scripted-dispatcher.ts';
import {
  accepted,
  acceptedLater,
  inPieces,
  jsonIn,
  selecting,
  type Target,
  texts,
} from '../engine/target.ts';
import { accountStateTarget } from './accounts.ts';

const ID = 7;
const parse = (bytes: Uint8Array): unknown => (isUtf8(bytes) ? jsonIn(bytes) : undefined);
const textOf = (value: unknown): string => writeJson(value as WritableJson);

type Envelope = { id?: unknown; result?: unknown; error?: { code?: unknown } | null };

/** The located bytes equal the member found by JSON.parse, and the other member is empty. */
function check(body: Buffer, errorCode: number, envelope: Envelope): void {
  const [expected, sister] =
    errorCode === 0 ? [envelope.result, envelope.error] : [envelope.error, envelope.result];
  if (textOf(parse(body)) !== textOf(expected)) throw new Error('located the wrong bytes');
  if (sister !== undefined && sister !== null) throw new Error('both a result and an error');
  if (errorCode !== 0 && envelope.error?.code !== errorCode) throw new Error('read the wrong code');
  if (envelope.id !== ID && (errorCode === 0 || envelope.id !== null)) {
    throw new Error('accepted a response to another request');
  }
}

const LOGGED_MAX_CHARS = 500;

function checkLogged(error: Buffer): void {
  const message = loggedMessage(messageIn(error)) ?? '';
  if (message.length > LOGGED_MAX_CHARS) throw new Error('logged too much');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be logged
  if (/[\u0000-\u001f\u007f]/.test(message)) throw new Error('logged control characters');
}

export const answerTarget: Target = {
  /** Responses to mutate, in the member orders of nodes. */
  seeds: texts([
    '{"jsonrpc":"2.0","result":{"context":{"slot":1},"value":[1.5e3,"\\u00e9",true,null]},"id":7}\n',
    '{"jsonrpc":"2.0","id":7,"result":{"a":[{}, [], "x"]}}',
    '{"jsonrpc":"2.0","error":{"code":-32005,"message":"m","data":{"numSlotsBehind":null}},"id":7}',
    ' { "id" : 7 , "error" : null , "result" : 18446744073709551615 } ',
    '{"jsonrpc":"2.0","result":null,"error":{"code":-32005,"message":"m"},"id":7}',
    '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}',
  ]),
  /**
   * Any bytes: no exception, no response in invalid JSON, and the located bytes are those that JSON.parse finds.
   * Holds for responses up to a few kilobytes; large ones may be recognized by their ends.
   * @returns whether a response was found.
   */
  fuzz(bytes: Uint8Array): boolean {
    const answer = locateResponse(Buffer.from(bytes), ID);
    if (answer === null) return false;
    const envelope = parse(bytes) as Envelope | undefined;
    if (envelope === undefined) throw new Error('found an answer in what is not JSON');
    check(answer.body, answer.errorCode, envelope);
    if (answer.errorCode !== 0) checkLogged(answer.body);
    return true;
  },
};
const HEAD = '{"jsonrpc":"2.0","result":';
const long = JSON.stringify({ list: Array.from({ length: 12 }, (_, at) => `é€😀 ${at}`) });
const OFFERED = 100;

const flow: BodyFlow = { pause: () => {}, resume: () => {}, stop: () => {} };

/** The passed data, and whether it was the whole result. */
function passed(bytes: Buffer, length: number, isMeasured: boolean): { text: string; isWhole: boolean } {
  let [ends, text, isWhole] = [0, '', false];
  const attemptWith = (outcome: string) => ({ node: 'a', startedAt: 0, endedAt: 1, outcome });
  const owner = { network: 'devnet', responseMaxBytes: 9, attemptWith, onStreamEnd: () => ends++ } as const;
  const size = isMeasured ? bytes.length : null;
  const answer = new PassthroughResponse(Buffer.from(bytes.subarray(0, OFFERED)), size, ID, flow, owner);
  const onData = (piece: Buffer): void => {
    if (ends > 0) throw new Error('more after the end');
    text += piece.toString('latin1');
  };
  const onEnd = (last: Buffer): void => {
    text += last.toString('latin1');
    isWhole = true;
  };
  answer.pipeTo({ onData, onEnd, onError: () => {} });
  for (const piece of inPieces(bytes.subarray(OFFERED), length)) answer.onData(piece);
  answer.onEnd();
  if (ends !== 1) throw new Error(`ended ${ends} times`);
  if (isWhole && answer.bytes !== null && text.length !== answer.bytes)
    throw new Error('another length than was announced');
  return { text, isWhole };
}

export const passedAnswerTarget: Target = {
  /** Long responses. The first byte is the length of the pieces. */
  seeds: [
    `${HEAD}${long},"id":${ID}}\n`,
    `${HEAD}[${long}],"id":${ID}}`,
    `${HEAD}"${'x'.repeat(120)}","id":${ID}}\n`,
    `${HEAD}${long},"id":8}`,
    `${HEAD}${long}`,
  ].map((text, at) => selecting(at * 9, text)),
  /** With any piece boundaries, passes exactly the result, or aborts. @returns whether it was complete. */
  fuzz(input: Uint8Array): boolean {
    const bytes = Buffer.from(input.subarray(1));
    if (bytes.length < OFFERED || !PassthroughResponse.canStream(bytes.subarray(0, OFFERED))) return false;
    const body = bytes.toString('latin1').replace(/\n$/, '');
    const tail = `,"id":${ID}}`;
    const expected = isUtf8(bytes) && body.endsWith(tail) ? body.slice(HEAD.length, -tail.length) : null;
    const read = [1, (input[0] ?? 0) + 1, bytes.length].flatMap((length) => [
      ...[passed(bytes, length, true), passed(bytes, length, false)],
    ]);
    for (const { text } of read.filter(({ isWhole }) => isWhole))
      if (expected === null || text.trimEnd() !== expected.trimEnd())
        throw new Error('passed on something else as the whole result');
    return read.at(-2)!.isWhole;
  },
};

const ANSWER_MAX_BYTES = 64;
const budget = new ByteBudget(() => Number.POSITIVE_INFINITY);

/** The responses read from the bytes, up to the first incomplete one. */
function readIn(bytes: Uint8Array, sizeOf: (at: number) => number): string[] {
  const reader = new HttpResponseReader({ responseMaxBytes: ANSWER_MAX_BYTES }, budget);
  const shared = Buffer.alloc(bytes.length);
  const reported: string[] = [];
  try {
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + sizeOf(at));
      shared.set(bytes.subarray(at, end));
      let from = 0;
      while (from < end - at) {
        const to = reader.read(shared, from, end - at);
        if (to < from || to > end - at) throw new Error('read what was not there');
        if (reader.readState === 'more') break;
        reported.push(report(reader));
        if (reader.readState !== 'complete') return reported;
        reader.next();
        from = to;
      }
      reader.body.retain();
      // The reader must not use these bytes any longer.
      shared.fill(0x7e);
      at = end;
    }
    reader.finish();
    if (reader.readState === 'complete') reported.push(report(reader));
    return reported;
  } finally {
    reader.free();
  }
}

function report(reader: HttpResponseReader): string {
  const { readState, status, retryAfter, keepAliveMs, keepAlive } = reader;
  if (readState !== 'complete') return readState;
  const body = reader.body.take();
  if (body.length > ANSWER_MAX_BYTES) throw new Error('an answer that is too long');
  if (status < 200) throw new Error('took an announcement for the answer');
  return JSON.stringify([status, retryAfter, keepAliveMs, keepAlive, body.toString('latin1')]);
}

export const responseReaderTarget: Target = {
  seeds: texts([
    'HTTP/1.1 200 OK\r\nContent-Length: 7\r\nKeep-Alive: timeout=5\r\n\r\n{"a":1}',
    'HTTP/1.1 200 OK\r\nContent-Length: 7\t\r\nConnection: keep-alive\r\n\r\n{"a":1}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x="y"\r\n{"a\r\n4\r\n":1}\r\n0\r\ntrailer: z\r\n\r\n',
    'HTTP/1.1 429 Too Many\r\nretry-after: 17\r\ncontent-length: 0\r\n\r\nHTTP/1.1 204 x\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end',
    'HTTP/1.1 150 x\r\ncontent-length: 4\r\n\r\nmoreHTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{"a":1}',
    'HTTP/1.0 500 no\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nno',
    'HTTP/1.0 500 no\r\ncontent-length: 2\r\n\r\nnoHTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{"a":1}',
    'HTTP/1.1 304 x\r\ncontent-length: 9\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 65\r\n\r\n',
  ]),
  /**
   * Any bytes: no exception, no body above the limit, and the same result with any piece boundaries.
   * @returns whether a response was found.
   */
  fuzz(bytes: Uint8Array): boolean {
    const whole = readIn(bytes, () => bytes.length);
    const seed = (bytes[0] ?? 0) % 7;
    for (const sizeOf of [() => 1, (at: number) => 1 + ((at * 31 + seed) % 13)]) {
      const cut = readIn(bytes, sizeOf);
      if (JSON.stringify(cut) !== JSON.stringify(whole)) {
        throw new Error(`cut: ${JSON.stringify(cut)}; whole: ${JSON.stringify(whole)}`);
      }
    }
    return whole.some((one) => one.startsWith('['));
  },
};

type Parsed = {
  id?: unknown;
  result?: unknown;
  error?: unknown;
  params?: { result?: unknown; subscription?: unknown };
};

const same = (bytes: Buffer, value: unknown): boolean =>
  JSON.stringify(JSON.parse(bytes.toString())) === JSON.stringify(value);

export const pubsubMessageTarget: Target = {
  seeds: texts([
    '{"jsonrpc":"2.0","method":"slotNotification","params":{"result":{"slot":3,"parent":2,"root":0},"subscription":0}}',
    '{"params":{"subscription":4743323479349712,"result":[1.5e3,"\\u00e9",null]},"method":"x","jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","result":23784,"id":5}',
    '{"jsonrpc":"2.0","error":{"code":-32602,"message":"m","data":null},"id":5}',
  ]),
  /** Messages agree with JSON.parse. */
  fuzz(bytes: Uint8Array): boolean {
    const text = Buffer.from(bytes);
    if (!isUtf8(text)) return false;
    const message = readNodeMessage(text);
    if (message === null) return false;
    const parsed = JSON.parse(text.toString()) as Parsed;
    if (message.kind === 'notification') {
      if (!same(message.result, parsed.params?.result)) throw new Error('found another result');
      const id = typeof message.id === 'string' ? JSON.parse(message.id) : message.id;
      if (JSON.stringify(id) !== JSON.stringify(parsed.params?.subscription))
        throw new Error('found another id');
    } else {
      if (message.id !== parsed.id) throw new Error('accepted a response to another request');
      if (!same(message.body, message.errorCode === 0 ? parsed.result : parsed.error)) {
        throw new Error('found another body');
      }
    }
    return true;
  },
};

const KEY = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const CONTEXT = '{"apiVersion":"2.2.1","slot":300}';
const STATE = '"executable":false,"rentEpoch":18446744073709551615,"space":3';
const ACCOUNT = `{"lamports":5,"data":["AAEC","base64"],"owner":"${KEY}",${STATE}}`;

/** Error code of a failed preflight. */
const PREFLIGHT = -32_002;

const someone = address(KEY);

/** Accounts round-trip. */
function checkAccount(result: Buffer): boolean {
  return accepted(() => {
    const account = readAccount(parseJson(result.toString()));
    const shown = encodeAccount(someone, account, 'base64', null);
    if (!isDeepStrictEqual(readAccount(parseJson(writeJson(shown))), account))
      throw new Error('an account changes in a round trip');
  }, MalformedJson);
}

function checkSlots(result: Buffer): boolean {
  readRoot(result);
  for (const row of [methods.getSlot, methods.getBalance]) readObservedSlot(row, result);
  for (const slot of [contextSlot(result), slotOfResult(result, 'slot')]) {
    if (slot !== null && (slot < 0n || slot >= 2n ** 64n)) throw new Error('an invalid slot');
  }
  const info = readSlotInfo(result);
  if (info !== null && readSlotInfo(slotInfoJson(info))?.root !== info.root)
    throw new Error('slots change in a round trip');
  return info !== null;
}

function checkSchedule(text: string): boolean {
  const info = readEpochInfo(text);
  const leaders = readLeaderSchedule(text, 5n);
  readShredVersion(text);
  if (leaders?.leaders.some(({ length }) => length !== 32)) throw new Error('an invalid leader');
  return info !== null || leaders !== null;
}

const MINT = 'So11111111111111111111111111111111111111112';
const instructions = [{ programIdIndex: 1, accounts: [0], data: '3Bxs', stackHeight: 2 }];
const uiTokenAmount = { amount: '1', decimals: 2 };
const META = {
  ...{ err: { InstructionError: [0, { Custom: 1 }] }, fee: 5000, preBalances: [1], postBalances: [1] },
  ...{ innerInstructions: [{ index: 0, instructions }], logMessages: ['a'], rewards: null },
  preTokenBalances: [{ accountIndex: 0, mint: MINT, owner: MINT, programId: MINT, uiTokenAmount }],
  ...{ postTokenBalances: [], loadedAddresses: { writable: [MINT], readonly: [] } },
  ...{ returnData: { programId: MINT, data: ['AA==', 'base64'] }, computeUnitsConsumed: 150 },
};
const WIRE = Buffer.concat([
  Buffer.from([1]),
  Buffer.alloc(64, 7),
  Buffer.from([1, 0, 0, 1]),
  Buffer.alloc(64, 3),
  Buffer.from([0]),
]).toString('base64');

const uiBlock = JSON.stringify({
  ...{ blockHeight: 5, blockTime: 1_700_000_000, blockhash: MINT, parentSlot: 6, previousBlockhash: MINT },
  rewards: [{ commission: null, lamports: -5, postBalance: 1, pubkey: MINT, rewardType: 'Fee' }],
  transactions: [{ meta: META, transaction: [WIRE, 'base64'], version: 'legacy' }],
});

export const nodeResultsTarget: Target = {
  seeds: texts([
    `{"context":${CONTEXT},"value":[null,{"slot":5,"confirmations":null,"err":null,"confirmationStatus":"finalized"}]}`,
    `{"context":{"slot":300},"value":{"err":{"InstructionError":[0,{"Custom":1}]}}}`,
    '{"slot":3,"parent":2,"root":0}',
    '5',
    ACCOUNT,
    `{"context":${CONTEXT},"value":{"pubkey":"${KEY}","account":${ACCOUNT.replace('"base64"', '"base64+zstd"')}}}`,
    '{"absoluteSlot":300,"blockHeight":290,"epoch":2,"slotIndex":44,"slotsInEpoch":128,"transactionCount":null}',
    `{"${KEY}":[0,1,2,3]}`,
    `[{"pubkey":"${KEY}","shredVersion":4},{"shredVersion":4},null]`,
    '{"code":-32002,"message":"Transaction simulation failed: Blockhash not found","data":{"err":"BlockhashNotFound"}}',
    '{"code":-32002,"message":{"toString":1}}',
    uiBlock,
  ]),
  /** Every reader accepts or refuses any JSON. */
  fuzz(bytes: Uint8Array): boolean {
    const result = Buffer.from(bytes);
    const text = result.toString();
    parseRetryAfter(text, 0);
    // Responses and messages are checked before.
    if (!isJson(result, 256) || Buffer.compare(Buffer.from(text), result) !== 0) return false;
    const canonical = canonicalJson(result);
    if (canonicalJson(Buffer.from(canonical)) !== canonical) throw new Error('a second canonical text');
    memberOf(result, 'value');
    parseJson(contextValue(result).toString());
    if (text.startsWith('{')) preflightFault({ body: result, errorCode: PREFLIGHT });
    parseNodeError(parseJson(text), PREFLIGHT);
    new WatchedTransaction(signatureFromBytes(new Uint8Array(64)), 'confirmed', null).onNotification(result);
    const read = [
      accepted(() => [...readBlockSteps(result, slot(7))], MalformedJson, SyntaxError),
      accepted(() => readSignatureStatuses(result), MalformedJson),
      checkAccount(result),
      checkSlots(result),
      checkSchedule(text),
    ];
    return read.includes(true);
  },
};

const [mint, token] = accountStateTarget.seeds as [Uint8Array, Uint8Array];
const shown = (data: Uint8Array): string =>
  `{"lamports":5,"data":["${Buffer.from(data).toString('base64')}","base64"],"owner":"${programs.token}","executable":false,"rentEpoch":0}`;

const log = createLogger('silent', () => {});
const addresses = [KEY, programs.system, programs.vote].map((text) => address(text));
const tokenAccount = {
  ...{ lamports: lamports(1), data: token, owner: programs.token, executable: false, rentEpoch: 0n },
};

/** Allowed errors of requests. */
const refusals = [ReadError, MalformedJson, SyntaxError, RangeError];

async function accountsRead(reader: ChainReader): Promise<void> {
  const request = { addresses, commitment: 'processed', minContextSlot: slot(1) } as const;
  const { signal } = new AbortController();
  for (const encoding of ['base64', 'jsonParsed'] as const) {
    for await (const read of readAccounts(reader, { ...request, encoding }, signal))
      for (const { result, keyedResult } of read) {
        JSON.parse(result().toString());
        JSON.parse(keyedResult()?.toString() ?? 'null');
      }
  }
}

export const nodeReadersTarget: Target = {
  seeds: [
    ...nodeResultsTarget.seeds,
    ...[
      '300',
      '[300,301,302]',
      `{"context":{"slot":300},"value":${shown(mint)}}`,
      `{"context":{"slot":300},"value":[${shown(mint)},null,${shown(token)}]}`,
      '{"context":{"slot":300},"value":[{"slot":5,"err":null,"confirmationStatus":"finalized"}]}',
    ].map((text) => Buffer.from(text)),
  ],
  /** Requesters accept or refuse every response. */
  async fuzz(bytes: Uint8Array): Promise<boolean> {
    const body = Buffer.from(bytes);
    if (!isJson(body, 256)) return false;
    const send = async (): Promise<Buffer> => Buffer.from(body);
    const pool = dispatcherOf(async () => ({ body: Buffer.from(body), errorCode: 0 }));
    const reader = new ChainReader({ network: 'devnet', pool, limits: feedLimits, log });
    const late = new LateSignatures(send, log, () => slot(300));
    const signature = signatureFromBytes(new Uint8Array(64).fill(1));
    const end = late.watch({ kind: 'signature', signature, commitment: 'confirmed' } as never, (reported) =>
      JSON.parse(reported.toString()),
    );
    const read = await Promise.all([
      acceptedLater(() => reader.slot('confirmed'), ...refusals),
      acceptedLater(() => reader.availableSlots(slot(300), slot(305), 'confirmed'), ...refusals),
      acceptedLater(() => reader.block(slot(300)), ...refusals),
      acceptedLater(() => accountsRead(reader), ...refusals),
      acceptedLater(async () =>
        new MintCache({ request: send, log, limits: geyserLimits }).fetchFor(tokenAccount),
      ),
    ]);
    end();
    return read.slice(0, -1).includes(true);
  },
};

let stored = Buffer.alloc(0);
const store: ResponseStore = { get: (_key, receive) => receive(Buffer.from(stored)), set: () => {} };

const source = new ScriptedDispatcher();
source.script = ({ method }) =>
  resultOf(method === 'getGenesisHash' ? '"EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxkrZBG"' : '"of a node"');
const slots = new ScriptedSlots();
slots.set('finalized', 100);
const parts = { store, counts: new ResponseCounts(), keys: new CallKeys() };
const answers = new StoreCache(source, { ...parts, roots: new FinalizedRoots(slots, () => {}) });
const call = callOf('getBlock', [7]);

export const storedAnswerTarget: Target = {
  seeds: texts([
    '{"blockhash":"a","transactions":[]}',
    'null',
    '{"blockhash":"\u00e9',
    `${'['.repeat(300)}${']'.repeat(300)}`,
  ]),
  /** Only stored UTF-8 JSON is used, otherwise a node is called. @returns whether it was used. */
  fuzz(bytes: Uint8Array): boolean {
    stored = Buffer.from(bytes);
    source.calls.length = 0;
    let reported: RpcResponse = resultOf('');
    answers.dispatch(call, {
      onResponse: (answer) => {
        reported = answer;
      },
      onError: (failure) => {
        throw failure;
      },
    });
    const { body, errorCode } = reported;
    const isStored = source.calls.every(({ call: { method } }) => method === 'getGenesisHash');
    if (errorCode !== 0 || !isUtf8(body)) throw new Error('returned an invalid result');
    JSON.parse(body.toString());
    if (isStored !== body.equals(stored)) throw new Error('another response than was stored');
    return isStored;
  },
};

const { body } = contract['POST /upstreams'];

export const givenNodeTarget: Target = {
  seeds: texts([
    '{"network":"devnet","name":"n","url":"https://a.example/key","ws":"off","headers":{"x":"y"}}',
    '{"network":"devnet","name":"n","url":"http://[::1]:8899","grpc":"http://a.example:10000","options":{"pipelining":2,"requests_per_second":5}}',
    '{"network":"testnet","name":"n","url":"env:HOME","ws":"file:x"}',
  ]),
  /** A node is valid or refused, and no value comes from a file or the environment. */
  fuzz(bytes: Uint8Array): boolean {
    const given = jsonIn(bytes);
    const read = body.safeParse(given);
    if (!read.success) return false;
    return accepted(() => {
      const { url } = parseNodeSettings(read.data as Parameters<typeof parseNodeSettings>[0]);
      if (url !== (given as { url: unknown }).url || !/^https?:/i.test(url)) throw new Error('another URL');
    }, ApiError);
  },
};

const TABLE = `{"owner":"${programs.addressLookupTable}","data":["AQAAAA==","base64"],"lamports":1}`;
const limits = { ...shredLimits, tablesGatherMs: 0 };
const keys = [1, 2].map((fill) => Buffer.alloc(32, fill).toString('latin1'));

export const tableReadsTarget: Target = {
  seeds: texts([
    `{"context":{"slot":5},"value":[${TABLE},null]}`,
    `{"context":{"slot":5},"value":[{"owner":"x","data":["",1]},${TABLE}]}`,
    '{"context":{"slot":5},"value":[]}',
    'null',
  ]),
  /** Only requested tables are reported. */
  fuzz(bytes: Uint8Array): Promise<boolean> {
    return new Promise((resolve, reject) => {
      let reported = 0;
      const found = (key: string, data: Uint8Array, slot: bigint): void => {
        reported++;
        if (!keys.includes(key) || !(data instanceof Uint8Array) || slot < 0n)
          reject(new Error('an unrequested table'));
      };
      const send = async (): Promise<Buffer> => {
        // The response is read in later turns.
        setImmediate(() => {
          reads.close();
          resolve(reported > 0);
        });
        return Buffer.from(bytes);
      };
      const reads = new TableLoader({ reader: { request: send }, limits, log, onTable: found });
      for (const key of keys) reads.request(key);
    });
  },
};
