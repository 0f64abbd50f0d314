import { setImmediate } from 'node:timers/promises';
import type { JsonValue } from '../../base/json.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { Failure } from '../../protocol/errors.ts';
import { NodeRejection } from '../../protocol/rest/node-rejection.ts';
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

/** Largest version number in Agave, a u8. All message versions decode the same way. */
const VERSION_MAX = 255;

export type FetchedTransaction = Readonly<{
  /** getTransaction result in jsonParsed form. */
  raw: JsonMembers;
  transaction: ExecutedTransaction;
}>;

/** Decoded results. For a finalized transaction that is cached, RestCaller returns the same result object again. */
const decoded = new WeakMap<JsonMembers, FetchedTransaction>();

function readResult(result: JsonValue): FetchedTransaction | null {
  if (result === null) return null;
  const raw = objectOf(result, 'a transaction');
  const known = decoded.get(raw);
  if (known !== undefined) return known;
  const transaction = readExecutedTransaction(result);
  if (transaction === null) throw new MalformedJson('a transaction');
  const fetched = { raw, transaction };
  decoded.set(raw, fetched);
  return fetched;
}

export async function fetchTransaction(chain: Chain, signature: string): Promise<FetchedTransaction | null> {
  const { commitment } = chain;
  const config = { encoding: 'jsonParsed', commitment, maxSupportedTransactionVersion: VERSION_MAX };
  const fetched = await chain.read('getTransaction', [signature, config], readResult);
  // Yield to the event loop between responses that arrive together.
  await setImmediate();
  return fetched;
}

/** Retries once after a Failure, unless the request was aborted. */
async function retried<T>({ signal }: Chain, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (failure) {
    if (!(failure instanceof Failure) || signal.aborted) throw failure;
    return read();
  }
}

/** Fetches the transactions that exist, in the requested order. */
export async function selectedTransactions(
  chain: Chain,
  signatures: readonly string[],
): Promise<FetchedTransaction[]> {
  const requested = [...new Set(signatures)];
  const fetched = await chain.each(requested, (signature) =>
    retried(chain, () => fetchTransaction(chain, signature)),
  );
  const bySignature = new Map(requested.map((signature, at) => [signature, fetched[at] ?? null]));
  return signatures.flatMap((signature) => bySignature.get(signature) ?? []);
}

/** Fails if the node does not have a listed transaction: the node is behind or has lost it. */
async function listedTransaction(chain: Chain, signature: string): Promise<FetchedTransaction> {
  const fetched = await fetchTransaction(chain, signature);
  if (fetched === null) throw new Failure('UPSTREAM_UNAVAILABLE');
  return fetched;
}

export type HistoryPart = Readonly<{
  limit: number;
  before?: Signature | undefined;
  until?: Signature | undefined;
  since: bigint;
}>;

type ListedSignature = Readonly<{ signature: string; time: bigint | null }>;

const readSignatures = (result: JsonValue): ListedSignature[] =>
  listOf(result, 'getSignaturesForAddress').map((item) => {
    const { signature, blockTime } = objectOf(item, 'a signature');
    const time = orNull(blockTime, (seconds) => integerOf(seconds, 'a blockTime'));
    return { signature: stringOf(signature, 'a signature'), time };
  });

/** Source: Agave rpc-client-api `custom_error.rs`, FilterTransactionNotFound. */
const CURSOR_NOT_FOUND = -32020;

/** Turns the rejection of an unknown `before` or `until` signature into a client error. */
function cursorFailure(thrown: unknown, { network }: Chain, { before, until }: HistoryPart): unknown {
  if (!(thrown instanceof NodeRejection) || thrown.error.code !== CURSOR_NOT_FOUND) return thrown;
  const isUntil = before === undefined || (until !== undefined && thrown.error.message.includes(until));
  const facts = { signature: (isUntil ? until : before) ?? '', network };
  return new Failure('TRANSACTION_NOT_FOUND', { facts, cause: thrown });
}

/**
 * Lists signatures, newest first. A page that starts at a finalized `before` never changes, so it is first requested at
 * `finalized`, where it can be cached. If the node then returns nothing, the chain's own commitment is used.
 */
async function listSignatures(chain: Chain, account: Address, part: HistoryPart): Promise<ListedSignature[]> {
  const { limit, before, until } = part;
  const list = (commitment: Commitment): Promise<ListedSignature[]> =>
    chain.read('getSignaturesForAddress', [account, { limit, before, until, commitment }], readSignatures);
  if (before !== undefined && chain.commitment !== 'finalized') {
    const page = await list('finalized').catch((thrown) => {
      if (thrown instanceof NodeRejection) return [];
      throw thrown;
    });
    if (page.length > 0) return page;
  }
  return list(chain.commitment);
}

/**
 * Newest transactions of an account. If any of them cannot be read, the request fails.
 * @throws Failure UPSTREAM_UNAVAILABLE, or TRANSACTION_NOT_FOUND for an unknown `before` or `until`.
 */
export async function historyOf(
  chain: Chain,
  account: Address,
  part: HistoryPart,
): Promise<FetchedTransaction[]> {
  const listed = await listSignatures(chain, account, part).catch((thrown) => {
    throw cursorFailure(thrown, chain, part);
  });
  const recent = listed.filter(({ time }) => time === null || time >= part.since);
  return chain.each(recent, ({ signature }) => retried(chain, () => listedTransaction(chain, signature)));
}
