import { isUtf8 } from 'node:buffer';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { base58 } from '@scure/base';
import { ByteBudget } from '../../../src/base/cache/byte-budget.ts';
import { type JsonValue, parseJson, writeJson } from '../../../src/base/json.ts';
import { isJson } from '../../../src/base/json-scan.ts';
import { Failure } from '../../../src/protocol/errors.ts';
import { type MethodName, methodRow, methods } from '../../../src/protocol/methods.ts';
import { parseRawUnsubscribe, parseSubscription } from '../../../src/protocol/pubsub/parse-subscription.ts';
import { topicKey, upstreamParams } from '../../../src/protocol/pubsub/topic-key.ts';
import { decodeEnvelope, type EnvelopeItem, envelopeLimits } from '../../../src/protocol/request-envelope.ts';
import { decodeBase58Text } from '../../../src/protocol/rpc/base58-text.ts';
import { decodeBase64 } from '../../../src/protocol/rpc/base64-text.ts';
import { noParameters, readOnlyContextConfig } from '../../../src/protocol/rpc/parameters.ts';
import { parseSendTransaction } from '../../../src/protocol/rpc/sendTransaction.ts';
import { RpcError } from '../../../src/protocol/rpc-error.ts';
import { type SubscriptionKind, subscriptions } from '../../../src/protocol/subscriptions.ts';
import { CallConcurrencyLimit } from '../../../src/servers/websocket/call-queue.ts';
import { Conversation, type Peer } from '../../../src/servers/websocket/conversation.ts';
import { decodeMessage } from '../../../src/servers/websocket/decode.ts';
import { addressBytes, addressFromBytes, parseAddress } from '../../../src/solana/address.ts';
import { decodeBase58, encodeBase58 } from '../../../src/solana/base58.ts';
import { parseBlockhash } from '../../../src/solana/blockhash.ts';
import { parseSignature, signatureBytes, signatureFromBytes } from '../../../src/solana/signature.ts';
import type { OpenSubscription, Session } from '../../../src/streams/session.ts';
import { CallKeys } from '../../../src/upstream/middleware/call-key.ts';
import { canonicalParams } from '../../../src/upstream/middleware/canonical-params.ts';
import { accepted, jsonIn, selecting, type Target, texts } from '../engine/target.ts';

const DEPTH = 200;

/** Whether brackets may be nested too deep for the scanner; counts all of them. */
function mayBeTooDeep(bytes: Uint8Array): boolean {
  let opened = 0;
  for (const byte of bytes) if (byte === 0x5b || byte === 0x7b) opened++;
  return opened > DEPTH;
}

/** The scanner accepts exactly what JSON.parse accepts. */
function checkScan(bytes: Uint8Array, valid: boolean): void {
  if (!isUtf8(bytes) || mayBeTooDeep(bytes) || isJson(bytes, DEPTH) === valid) return;
  throw new Error(`scanner and JSON.parse (${valid}) disagree: ${JSON.stringify(String(bytes))}`);
}

/** The value with integers rounded as JSON.parse does. */
function rounded(value: JsonValue): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(rounded);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, rounded(member)]));
}

const isInteger = /^-?\d{1,39}$/;

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const exactJsonTarget: Target = {
  seeds: texts([
    '{"a":[1,-0.5e+3,true,false,null,"\\u0041\\n"],"é":{}}',
    '[18446744073709551615,-9223372036854775808,9007199254740992,1234567890123456.5,1e400]',
    '{"a":18446744073709551615,"b":"18446744073709551615","\\ue0f11":"x:1234567890123456789,"}',
    ' 12345678901234567890123456789012345678901 ',
    ' [ ] ',
    '"\\ud83d\\ude00"',
  ]),
  /** Reads what JSON.parse reads, without rounding, and writes it back. */
  fuzz(bytes: Uint8Array): boolean {
    const text = Buffer.from(bytes).toString();
    const known = parsedJson(text);
    checkScan(bytes, known !== undefined);
    let value: JsonValue;
    try {
      value = parseJson(text);
    } catch (error) {
      if (!(error instanceof SyntaxError) || known !== undefined) throw error;
      return false;
    }
    if (!isDeepStrictEqual(rounded(value), rounded(known as JsonValue)))
      throw new Error('reads another value');
    const again = parseJson(writeJson(value));
    // A float with a whole value of more than sixteen digits becomes an integer.
    const isSame = isDeepStrictEqual(rounded(again), rounded(value)) || /e\d{3}|\d{300}|-0/i.test(text);
    if (!isSame) throw new Error('writes another value');
    if (isInteger.test(text.trim()) && writeJson(value) !== text.trim().replace(/^-0$/, '0'))
      throw new Error('writes another integer');
    return true;
  },
};

/** The bytes by the library; null for invalid base58. */
function libraryBytes(text: string): Uint8Array | null {
  try {
    return base58.decode(text);
  } catch {
    return null;
  }
}

const isSame = (a: Uint8Array | null, b: Uint8Array | null): boolean =>
  a === null || b === null ? a === b : Buffer.compare(a, b) === 0;

/** Every base58 decoder agrees with the library. */
function checkText(text: string): boolean {
  const bytes = libraryBytes(text);
  if (!isSame(decodeBase58(text), bytes)) throw new Error('reads other bytes than the library');
  const short = decodeBase58Text(text);
  if (!isSame('fault' in short ? null : short.bytes, bytes)) throw new Error('accepts invalid base58');
  const [address, hash, signature] = [parseAddress(text), parseBlockhash(text), parseSignature(text)];
  if ('address' in address !== (bytes?.length === 32)) throw new Error('an address of a wrong length');
  if ('blockhash' in hash !== 'address' in address) throw new Error('a hash of a wrong length');
  if ('signature' in signature !== (bytes?.length === 64)) throw new Error('a signature of a wrong length');
  const base64 = decodeBase64(text);
  if (!('fault' in base64) && Buffer.from(base64.bytes).toString('base64') !== text)
    throw new Error('a second text for the same bytes');
  return bytes !== null || !('fault' in base64);
}

export const textsTarget: Target = {
  /** Texts, also used as bytes to encode. */
  seeds: [
    ...[32, 64].flatMap((length) => [0, 1, 255].map((fill) => new Uint8Array(length).fill(fill))),
    ...texts(['1'.repeat(32), 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', 'AAEC', 'AA==', '0OIl']),
    Buffer.from(encodeBase58(new Uint8Array(64).fill(9))),
  ],
  /** Encoded bytes are decoded to the same bytes. */
  fuzz(input: Uint8Array): boolean {
    const bytes = input.subarray(0, 200);
    const text = encodeBase58(bytes);
    if (text !== base58.encode(bytes) || !isSame(decodeBase58(text), bytes))
      throw new Error('encodes other text than the library');
    if (input.length === 32 && !isSame(addressBytes(addressFromBytes(input)), input))
      throw new Error('an address changes');
    if (input.length === 64 && !isSame(signatureBytes(signatureFromBytes(input)), input))
      throw new Error('a signature changes');
    checkText(text);
    return checkText(Buffer.from(bytes).toString('latin1'));
  },
};

const ALLOWED = new Set(['PARSE_ERROR', 'BATCH_TOO_LARGE']);

function check(item: EnvelopeItem): void {
  if (item.kind === 'notification') return;
  const id: unknown = JSON.parse(item.id.toString());
  if (id !== null && typeof id !== 'number' && typeof id !== 'string')
    throw new Error(`illegal id ${item.id}`);
  if (item.kind === 'call' && item.params !== null) {
    const params: unknown = JSON.parse(item.params.toString());
    if (typeof params !== 'object' || params === null) throw new Error(`illegal params ${item.params}`);
  }
}

export const envelopeTarget: Target = {
  seeds: texts([
    '{"jsonrpc":"2.0","id":18446744073709551615,"method":"getBlock","params":[5,{"a":null}]}',
    '[{"jsonrpc":"2.0","id":"a\\u0041","method":"getSlot"},{"method":"x"},{"id":null,"method":"x"}]',
    '{"jsonrpc":"2.0","id":1,"method":"getAsset","params":{"id":"x"}}',
  ]),
  /** Only two failures are allowed; items are valid. */
  fuzz(bytes: Uint8Array): boolean {
    try {
      const { batch, items } = decodeEnvelope(Buffer.from(bytes));
      JSON.parse(Buffer.from(bytes).toString());
      if (!batch && items.length !== 1) throw new Error(`${items.length} items outside a batch`);
      items.forEach(check);
      return true;
    } catch (thrown) {
      if (!(thrown instanceof Failure) || !ALLOWED.has(thrown.code)) throw thrown;
      return false;
    }
  },
};

type Parse = (params: JsonValue | undefined) => unknown;

const folder = join(import.meta.dirname, '..', '..', '..', 'packages', 'localnet', 'src', 'rpc');
const methodModules: readonly Record<string, Parse>[] = await Promise.all(
  readdirSync(folder)
    .filter((file) => /^[a-z]+[A-Z]\w*\.ts$/.test(file))
    .map((file) => import(join(folder, file))),
);

const parsers: readonly Parse[] = [
  ...[noParameters, readOnlyContextConfig, parseSendTransaction],
  ...methodModules.flatMap((module) =>
    Object.entries(module).flatMap(([name, parse]) => (/^parse[A-Z]/.test(name) ? [parse] : [])),
  ),
];
if (parsers.length < 30) throw new Error('too few parsers');

const KEY = '"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"';
const CONFIG =
  '{"commitment":"confirmed","minContextSlot":5,"encoding":"base64","dataSlice":{"offset":1,"length":2}}';
const FILTERS =
  '[{"dataSize":165},{"memcmp":{"offset":32,"bytes":"3Mc6vR","encoding":"base58"}},"tokenAccountState"]';

const kinds = Object.keys(subscriptions) as SubscriptionKind[];
const SIGNATURE =
  '"5h6xBEauJ3PK6SWCZ1PGjBvj8vDdWG3KpwATGy1ARAXFSDwt8GFXM7W5Ncn16wmqokgpiKRLuS83KUxyZyv2sUYv"';
const VIEW =
  '{"commitment":"confirmed","encoding":"json","transactionDetails":"accounts","showRewards":true,"maxSupportedTransactionVersion":0}';

/** Parses parameters and checks that the upstream parameters are equivalent. */
function isSubscription(kind: SubscriptionKind, text: string): boolean {
  try {
    const subscription = parseSubscription(kind, parseJson(text));
    const again = parseSubscription(kind, parseJson(upstreamParams(subscription).toString()));
    if (topicKey(again) !== topicKey(subscription))
      throw new Error('upstream parameters mean another subscription');
    return true;
  } catch (error) {
    if (error instanceof RpcError || error instanceof SyntaxError) return false;
    throw error;
  }
}

export const rpcParametersTarget: Target = {
  seeds: texts([
    '[]',
    `[${KEY}]`,
    `[${KEY},${CONFIG}]`,
    `[[${KEY},${KEY}],${CONFIG}]`,
    `[${KEY},{"filters":${FILTERS},"withContext":true,"sortResults":false,"encoding":"jsonParsed"}]`,
    `[${KEY},{"mint":${KEY}},${CONFIG}]`,
    `[${KEY},{"transactionDetails":"full","limit":5,"paginationToken":"7:1","filters":{"slot":{"gte":5},"status":"failed"}}]`,
    '[{"identity":null,"range":{"firstSlot":1,"lastSlot":5}}]',
    '[18446744073709551615,5000]',
    `[${KEY},5000,{"recentBlockhash":${KEY}}]`,
    '[1.5e300,{"identity":null}]',
    '[{"votePubkey":null,"keepUnstakedDelinquents":true,"delinquentSlotDistance":1}]',
    '[18446744073709551615]',
    `[{"mentions":[${KEY}]},{"commitment":"confirmed"}]`,
    `[${SIGNATURE},{"enableReceivedNotification":true}]`,
    `[{"mentionsAccountOrProgram":${KEY}},${VIEW}]`,
    `[{"vote":false,"failed":null,"signature":${SIGNATURE},"accountInclude":[${KEY}],"tokenAccounts":"all"},${VIEW}]`,
    `[{"accounts":{"include":[${KEY}],"exclude":[],"required":[${KEY}]}},${VIEW}]`,
  ]),
  /** Each parser and every kind of subscription accepts parameters or refuses them with an RPC error. */
  fuzz(input: Uint8Array): boolean {
    const isEnd = accepted(() => parseRawUnsubscribe(Buffer.from(input)), RpcError, SyntaxError);
    const params = jsonIn(input);
    if (params === undefined) return false;
    const text = Buffer.from(input).toString('utf8');
    const subscribed = kinds.map((kind) => isSubscription(kind, text));
    const read = parsers.map((parse) => accepted(() => parse(params), RpcError));
    return [...read, ...subscribed, isEnd].includes(true);
  },
};

const names = Object.keys(methods) as MethodName[];

const nowhere = { index: null, kind: null };

export const callKeyTarget: Target = {
  /** Params of a method, which the first byte selects. */
  seeds: [
    '["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",{"commitment":"finalized","minContextSlot":5}]',
    '[ 5 , { "b" : [ 1.0 , "\\u00e9\\/" ] , "a" : { "\\u0061" : null } } ]',
    '["é€😀",null]',
    '[{"commitment":"finalized"}]',
    '[[[[[[[[[]]]]]]]]]',
  ].map((text, at) => selecting(at * 7, text)),
  /** The canonical text is its own canonical text. @returns whether there is one. */
  fuzz(bytes: Uint8Array): boolean {
    const params = Buffer.from(bytes.subarray(1));
    const text = params.toString();
    // Envelopes accept nothing else.
    if (!isJson(params, 64) || Buffer.compare(Buffer.from(text), params) !== 0) return false;
    const method = names[(bytes[0] ?? 0) % names.length] as MethodName;
    new CallKeys().keyOf({ network: 'devnet', method, row: methodRow(method), params });
    const canonical = canonicalParams(params, params.toString('latin1'), nowhere)?.text;
    if (canonical === undefined) return false;
    const reported = Buffer.from(canonical, 'latin1');
    if (canonicalParams(reported, canonical, nowhere)?.text !== canonical)
      throw new Error('a second canonical text');
    return true;
  },
};

const call = (method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;

let problem: unknown = null;

function note(frame: Buffer): void {
  try {
    if (frame[0] !== 0x81) throw new Error('not a text frame');
    const short = frame[1]! < 126 ? 2 : frame[1] === 126 ? 4 : 10;
    JSON.parse(frame.toString('utf8', short));
  } catch (thrown) {
    problem = thrown;
  }
}

const peer: Peer = {
  isOpen: true,
  isFull: false,
  send: note,
  sendResponse: note,
  sendNotification: ({ bytes }) => note(bytes),
  end: () => {},
  onMessageSettled: () => {},
  onError: (thrown) => {
    problem = thrown;
  },
};

const opened: OpenSubscription = { start: () => {}, close: () => {} };

const session: Session = {
  limits: { subscriptionsMax: 10, messageMaxBytes: 1 << 20 },
  call: async (_method, params) => {
    if (params !== null) JSON.parse(params.toString());
    return { response: { body: Buffer.from('1'), errorCode: 0 }, failure: null, rateLimit: null };
  },
  recordInvalidRequest: (fault) => fault,
  subscribe: async () => ({ opened, error: null }),
  recordReceived: () => 0,
  recordSent: () => {},
  end: () => {},
  close: () => {},
};

const options = {
  ...{ callsInFlightMax: 4, callsWaitingMax: 100, callsWaitingMaxBytes: 10_000, batchConcurrency: 8 },
  ...{ responseBudget: new ByteBudget(() => 1_000_000), batchResponsesMaxBytes: 1_000_000 },
  envelope: envelopeLimits,
};
const conversation = new Conversation(session, peer, options, new CallConcurrencyLimit(1_000_000));

export const websocketMessageTarget: Target = {
  seeds: texts([
    call('getSlot', '[]'),
    call('slotSubscribe', 'null'),
    call('slotUnsubscribe', '[1]'),
    call('accountUnsubscribe', '[18446744073709551615]'),
    `[${call('slotSubscribe', '[]')},${call('slotUnsubscribe', '[2]')},${call('getBlock', '[5]')},7]`,
  ]),
  /** Any client message: no exception, and every response is a JSON text frame. */
  fuzz(input: Uint8Array): boolean {
    if (problem !== null) throw problem;
    const message = Buffer.from(input);
    conversation.receive(message);
    return decodeMessage(message, envelopeLimits).failure === null;
  },
};
