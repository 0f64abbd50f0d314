import { z } from 'zod';
import type { JsonValue } from '../../base/json.ts';
import type { Chain } from '../../decoding/chain/chain.ts';
import { type Commitment, commitments } from '../../protocol/commitment.ts';
import { Failure } from '../../protocol/errors.ts';
import { type NodeError, NodeRejection } from '../../protocol/rest/node-rejection.ts';
import { objectOf, u64Of } from '../../solana/encoding/read-json.ts';
import {
  displayTransactionError,
  type TransactionError,
} from '../../solana/transaction/transaction-error.ts';
import { type Context, chainFailures, endpoint } from '../endpoint.ts';
import { list, network, oneOf } from '../fields.ts';
import type { Confirmation } from '../services.ts';
import {
  isUnsubmitted,
  type SignedTransaction,
  sendTransaction,
  signedTransaction,
} from './signed-transaction.ts';

/** Source: rest-api.md §2.20. */
const TRANSACTIONS_MAX = 100;

/** `failure` is null if a node has accepted, or may have accepted, the transaction. */
type Submission = Readonly<{ transaction: SignedTransaction; failure: Failure | null }>;

const outcome = z.object({
  id: z.number().int().meta({ description: 'Position of the transaction in the request, starting at 1.' }),
  signature: z.string(),
  error: z
    .object({
      code: z.number().int(),
      message: z.string(),
      data: z.unknown().optional().meta({ description: 'Additional data from the node.' }),
    })
    .optional()
    .meta({ description: 'Error from the node or transaction, or why the commitment was not observed.' }),
  status: z
    .enum(commitments)
    .nullable()
    .meta({ description: 'Observed commitment; null if the transaction was not seen to land.' }),
});

async function sendOne(transaction: SignedTransaction, chain: Chain, context: Context): Promise<Submission> {
  try {
    await sendTransaction(chain, transaction);
    return { transaction, failure: null };
  } catch (thrown) {
    if (!(thrown instanceof Failure) || context.caller.signal.aborted) throw thrown;
    const isFinal = thrown instanceof NodeRejection || isUnsubmitted(thrown);
    return { transaction, failure: isFinal ? thrown : null };
  }
}

/** Sends each distinct transaction once. */
async function sendAll(
  all: readonly SignedTransaction[],
  chain: Chain,
  context: Context,
): Promise<Submission[]> {
  const distinct = new Map(all.map((transaction) => [transaction.text, transaction]));
  const submissions = await chain.each([...distinct.values()], (transaction) =>
    sendOne(transaction, chain, context),
  );
  const [first] = submissions;
  // If no transaction reached a node, the whole request fails.
  const reachedNoNode = ({ failure }: Submission): boolean =>
    failure !== null && !(failure instanceof NodeRejection);
  if (first?.failure && submissions.every(reachedNoNode)) throw first.failure;
  const byText = new Map(submissions.map((submission) => [submission.transaction.text, submission]));
  return all.map(({ text }) => byText.get(text) as Submission);
}

/** Of the latest blockhash; null if no transaction can expire or the height cannot be read. */
async function lastValidBlockHeight(
  chain: Chain,
  submissions: readonly Submission[],
): Promise<bigint | null> {
  const isNeeded = submissions.some(
    ({ transaction, failure }) => failure === null && transaction.blockhash !== null,
  );
  if (!isNeeded) return null;
  return chain
    .read('getLatestBlockhash', [{ commitment: 'processed' }], (result) => {
      const { value } = objectOf(result, 'getLatestBlockhash');
      return u64Of(objectOf(value, 'value').lastValidBlockHeight, 'a height');
    })
    .catch(() => null);
}

function reasonOf(err: JsonValue): string {
  try {
    return displayTransactionError(err as TransactionError);
  } catch {
    return 'unknown error';
  }
}

function errorOf(failure: Failure, data?: JsonValue): NodeError {
  if (failure instanceof NodeRejection) return failure.error;
  return { code: failure.row.rpc, message: failure.text, ...(data === undefined ? {} : { data }) };
}

/** If the request times out, reports the transaction as unconfirmed instead of failing. */
function toUnconfirmed(thrown: unknown): Confirmation {
  if (!(thrown instanceof Failure) || thrown.code !== 'UPSTREAM_TIMEOUT') throw thrown;
  return { status: null, err: null, failure: new Failure('TRANSACTION_UNCONFIRMED') };
}

type TransactionOutcome = Readonly<{ error?: NodeError; status: Commitment | null }>;

function toOutcome({ status, err, failure }: Confirmation): TransactionOutcome {
  if (failure !== null) return { error: errorOf(failure), status };
  if (err === null) return { status };
  const failed = new Failure('TRANSACTION_FAILED', { facts: { reason: reasonOf(err) } });
  return { error: errorOf(failed, { err }), status };
}

/** Source: rest-api.md §2.20. */
export const sendManyTxns = endpoint('POST transaction/send_many_txns', {
  summary: 'Send up to 100 signed transactions and wait for a commitment',
  description:
    'Transactions are sent concurrently, in no guaranteed order. Send a transaction that depends on another in a ' +
    'later request. The response has one entry per transaction in request order, once each has reached the ' +
    'commitment, been rejected, failed or expired, or after 90 seconds. A transaction that uses a durable nonce ' +
    'never expires. `error` is set for transactions that were rejected, that failed (`data.err` is the ' +
    'transaction error), or that were not seen to reach the commitment. A transaction with an unknown outcome is ' +
    'awaited too: it may land. If any transaction in the request is invalid, none is sent.',
  from: 'body',
  failures: chainFailures,
  fields: z.object({
    network: network(),
    encoded_transactions: list(
      signedTransaction('A signed transaction in base64.'),
      TRANSACTIONS_MAX,
      'Signed transactions in base64.',
    ),
    commitment: oneOf(commitments, 'finalized', 'Commitment to wait for.'),
  }),
  result: z.array(outcome),
  async handle({ encoded_transactions: all, ...target }, context) {
    const { caller, services } = context;
    const chain = context.chain({ network: target.network });
    const submissions = await sendAll(all, chain, context);
    const height = await lastValidBlockHeight(chain, submissions);
    const wait = async ({ transaction, failure }: Submission): Promise<TransactionOutcome> => {
      if (failure !== null) return { error: errorOf(failure), status: null };
      const { signature, blockhash } = transaction;
      const request = { ...target, signature, blockhash, lastValidBlockHeight: height };
      return toOutcome(await services.confirmations.wait(request, caller.signal).catch(toUnconfirmed));
    };
    const outcomes = await Promise.all(submissions.map(wait));
    return {
      message: 'Transactions sent successfully',
      result: outcomes.map((one, index) => ({
        id: index + 1,
        signature: submissions[index]?.transaction.signature ?? '',
        ...one,
      })),
    };
  },
});
