import { setImmediate } from 'node:timers/promises';
import type { JsonValue } from '../../base/json.ts';
import { Failure } from '../../protocol/errors.ts';
import { NodeRefusal } from '../../protocol/rest/node-refusal.ts';
import type { Address } from '../../solana/address.ts';
import {
  integerOf,
  type JsonMembers,
  listOf,
  MalformedJson,
  objectOf,
  orNull,
  stringOf,
} from '../../solana/encoding/read-json.ts';
import type { Signature } from '../../solana/signature.ts';
import type { Chain } from '../chain/chain.ts';
import type { ExecutedTransaction } from './executed-transaction.ts';
import { readExecutedTransaction } from './read-executed-transaction.ts';

/** Whichever version a message has: what is read of it is the same in each. Source: Agave, a u8. */
const VERSION_MAX = 255;

/** A transaction as a node told it, and as insight reads it. */
export type FetchedTransaction = Readonly<{
  /** The result of getTransaction in jsonParsed. */
  raw: JsonMembers;
  transaction: ExecutedTransaction;
}>;

function readResult(result: JsonValue): FetchedTransaction | null {
  if (result === null) return null;
  const transaction = readExecutedTransaction(result);
  if (transaction === null) throw new MalformedJson('a transaction');
  return { raw: objectOf(result, 'a transaction'), transaction };
}

/** A transaction, or null where the node knows none. @throws Failure, NodeRefusal. */
export async function fetchTransaction(chain: Chain, signature: string): Promise<FetchedTransaction | null> {
  const { commitment } = chain;
  const config = { encoding: 'jsonParsed', commitment, maxSupportedTransactionVersion: VERSION_MAX };
  const fetched = await chain.read('getTransaction', [signature, config], readResult);
  // Answers that are there at the same time are read one by one, with others in between.
  await setImmediate();
  return fetched;
}

/** What came of a first try, or `failed` when a second one is worth it. */
async function firstTry(chain: Chain, signature: string): Promise<FetchedTransaction | null | 'failed'> {
  try {
    return await fetchTransaction(chain, signature);
  } catch (failure) {
    if (!(failure instanceof Failure) || chain.signal.aborted) throw failure;
    return 'failed';
  }
}

/** Those of the transactions that there are, in the order asked for; each is read once, and again where that failed. */
export async function selectedTransactions(
  chain: Chain,
  signatures: readonly string[],
): Promise<FetchedTransaction[]> {
  const requested = [...new Set(signatures)];
  const fetched = await chain.each(requested, async (signature) => {
    const first = await firstTry(chain, signature);
    return first === 'failed' ? fetchTransaction(chain, signature) : first;
  });
  const bySignature = new Map(requested.map((signature, at) => [signature, fetched[at] ?? null]));
  return signatures.flatMap((signature) => bySignature.get(signature) ?? []);
}

/** A transaction that is in a list: a node that knows none is behind, or lost it. */
async function listedTransaction(chain: Chain, signature: string): Promise<FetchedTransaction> {
  const first = await firstTry(chain, signature);
  const fetched = first === 'failed' || first === null ? await fetchTransaction(chain, signature) : first;
  if (fetched === null) throw new Failure('UPSTREAM_UNAVAILABLE');
  return fetched;
}

/** Which part of an account's history is wanted. */
export type HistoryPart = Readonly<{
  /** At most so many, 1 to 1000. */
  limit: number;
  /** Only those older than this transaction. */
  before?: Signature | undefined;
  /** Only those newer than this transaction. */
  until?: Signature | undefined;
  /** Unix seconds: nothing older than this. */
  since: bigint;
}>;

function readSignatures(result: JsonValue, since: bigint): string[] {
  return listOf(result, 'getSignaturesForAddress').flatMap((item) => {
    const { signature, blockTime } = objectOf(item, 'a signature');
    const time = orNull(blockTime, (seconds) => integerOf(seconds, 'a blockTime'));
    return time !== null && time < since ? [] : [stringOf(signature, 'a signature')];
  });
}

/** Source: Agave rpc-client-api `custom_error.rs`, FilterTransactionNotFound. */
const CURSOR_NOT_FOUND = -32020;

/** A transaction that bounds the history, and that no node knows, is the caller's mistake. */
function cursorFailure(thrown: unknown, { network }: Chain, { before, until }: HistoryPart): unknown {
  if (!(thrown instanceof NodeRefusal) || thrown.error.code !== CURSOR_NOT_FOUND) return thrown;
  const isUntil = before === undefined || (until !== undefined && thrown.error.message.includes(until));
  const facts = { signature: (isUntil ? until : before) ?? '', network };
  return new Failure('TRANSACTION_NOT_FOUND', { facts, cause: thrown });
}

/**
 * The newest transactions of an account, newest first: one call for their signatures and one for each. None is left
 * out because it could not be read.
 * @throws Failure UPSTREAM_UNAVAILABLE when one cannot be read at the second try either, TRANSACTION_NOT_FOUND for an
 * end of the part that no node knows; NodeRefusal.
 */
export async function historyOf(
  chain: Chain,
  account: Address,
  part: HistoryPart,
): Promise<FetchedTransaction[]> {
  const { limit, before, until, since } = part;
  const config = { limit, before, until, commitment: chain.commitment };
  const signatures = await chain
    .read('getSignaturesForAddress', [account, config], (result) => readSignatures(result, since))
    .catch((thrown) => {
      throw cursorFailure(thrown, chain, part);
    });
  return chain.each(signatures, (signature) => listedTransaction(chain, signature));
}
