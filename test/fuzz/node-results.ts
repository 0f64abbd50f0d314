import { isDeepStrictEqual } from 'node:util';
import { parseJson, writeJson } from '../../src/base/json.ts';
import { isJson } from '../../src/base/json-scan.ts';
import { methods } from '../../src/protocol/methods.ts';
import { parseNodeError } from '../../src/protocol/rest/node-refusal.ts';
import { address } from '../../src/solana/address.ts';
import { MalformedJson } from '../../src/solana/encoding/read-json.ts';
import { encodeAccount, readAccount } from '../../src/solana/encoding/ui-account.ts';
import { signatureFromBytes } from '../../src/solana/signature.ts';
import { WatchedTransaction } from '../../src/upstream/confirmations/watched-transaction.ts';
import { canonicalJson } from '../../src/upstream/feeds/gap/account-gap.ts';
import { contextValue, rawMembers } from '../../src/upstream/feeds/gap/continuity.ts';
import { readRoot } from '../../src/upstream/feeds/gap/slot-gap.ts';
import { readSlotInfo, slotInfoJson } from '../../src/upstream/feeds/pubsub-message.ts';
import { readSignatureStatuses } from '../../src/upstream/feeds/signature-statuses.ts';
import { preflightFault } from '../../src/upstream/retry/attempt.ts';
import { parseRetryAfter } from '../../src/upstream/retry-after.ts';
import {
  readEpochInfo,
  readLeaderSchedule,
  readShredVersion,
} from '../../src/upstream/shreds/leader-schedule.ts';
import { contextSlot, readObservedSlot, slotOfResult } from '../../src/upstream/slots/context-slot.ts';
import { accepted } from './engine/accepted.ts';

export const from = 'nodes';
export const covers = [
  'protocol/rest/node-refusal.ts',
  'solana/encoding/ui-account.ts',
  'upstream/retry-after.ts',
  'solana/encoding/read-ui-meta.ts',
  'upstream/retry/attempt.ts',
  'upstream/confirmations/watched-transaction.ts',
  'upstream/feeds/gap/account-gap.ts',
  'upstream/feeds/gap/continuity.ts',
  'upstream/feeds/gap/slot-gap.ts',
  'upstream/feeds/signature-statuses.ts',
  'upstream/feeds/pubsub-message.ts',
  'upstream/shreds/leader-schedule.ts',
];

const KEY = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const CONTEXT = '{"apiVersion":"2.2.1","slot":300}';
const STATE = '"executable":false,"rentEpoch":18446744073709551615,"space":3';
const ACCOUNT = `{"lamports":5,"data":["AAEC","base64"],"owner":"${KEY}",${STATE}}`;

/** Results as nodes write them, and errors. */
export const seeds: readonly Uint8Array[] = [
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
].map((text) => Buffer.from(text));

/** As nodes give it: the error of a preflight that failed. */
const PREFLIGHT = -32_002;

const someone = address(KEY);

/** An account is the same when it is shown again. */
function checkAccount(result: Buffer): boolean {
  return accepted(() => {
    const account = readAccount(parseJson(result.toString()));
    const shown = encodeAccount(someone, account, 'base64', null);
    if (!isDeepStrictEqual(readAccount(parseJson(writeJson(shown))), account))
      throw new Error('an account changes when it is written again');
  }, MalformedJson);
}

function checkSlots(result: Buffer): boolean {
  readRoot(result);
  for (const row of [methods.getSlot, methods.getBalance]) readObservedSlot(row, result);
  for (const slot of [contextSlot(result), slotOfResult(result, 'slot')]) {
    if (slot !== null && (slot < 0n || slot >= 2n ** 64n)) throw new Error('a slot that is none');
  }
  const info = readSlotInfo(result);
  if (info !== null && readSlotInfo(slotInfoJson(info))?.root !== info.root)
    throw new Error('slots change when they are written again');
  return info !== null;
}

function checkSchedule(text: string): boolean {
  const info = readEpochInfo(text);
  const leaders = readLeaderSchedule(text, 5n);
  readShredVersion(text);
  if (leaders?.leaders.some(({ length }) => length !== 32)) throw new Error('a leader that is none');
  return info !== null || leaders !== null;
}

/** Whatever a result holds that is JSON, each reader reads it, or says that it is something else. */
export function fuzz(bytes: Uint8Array): boolean {
  const result = Buffer.from(bytes);
  const text = result.toString();
  parseRetryAfter(text, 0);
  // Nothing else comes so far: answers and messages are looked at first.
  if (!isJson(result, 256) || Buffer.compare(Buffer.from(text), result) !== 0) return false;
  const canonical = canonicalJson(result);
  if (canonicalJson(Buffer.from(canonical)) !== canonical) throw new Error('a second canonical text');
  rawMembers(result);
  parseJson(contextValue(result).toString());
  if (text.startsWith('{')) preflightFault({ body: result, errorCode: PREFLIGHT });
  parseNodeError(parseJson(text), PREFLIGHT);
  new WatchedTransaction(signatureFromBytes(new Uint8Array(64)), 'confirmed', null).onNotification(result);
  const read = [
    accepted(() => readSignatureStatuses(result), MalformedJson),
    checkAccount(result),
    checkSlots(result),
    checkSchedule(text),
  ];
  return read.includes(true);
}
