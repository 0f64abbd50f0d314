import { z } from 'zod';
import type { JsonValue } from '../../base/json.ts';
import type { Chain } from '../../decoding/chain/chain.ts';
import { type Commitment, commitments } from '../../protocol/commitment.ts';
import { Failure } from '../../protocol/errors.ts';
import { type NodeError, NodeRefusal } from '../../protocol/rest/node-refusal.ts';
import { objectOf, u64Of } from '../../solana/encoding/read-json.ts';
import { displayTransactionError } from '../../solana/transaction/display-error.ts';
import type { TransactionError } from '../../solana/transaction/transaction-error.ts';
import { type Context, endpoint } from '../endpoint.ts';
import { ofChain } from '../failures.ts';
import { list, network, oneOf } from '../fields.ts';
import type { Confirmation } from '../services.ts';
import {
  isUnsubmitted,
  type SignedTransaction,
  sendTransaction,
  signedTransaction,
} from './signed-transaction.ts';

/** Spec, "Limits". */
const TRANSACTIONS_MAX = 100;

/** How sending one ended: a node has it, or may have it; or what stood in the way. */
type Submission = Readonly<{ transaction: SignedTransaction; failure: Failure | null }>;

const outcome = z.object({
  id: z.number().int().meta({ description: 'Which of the transactions, counted from 1.' }),
  signature: z.string(),
  error: z
    .object({
      code: z.number().int(),
      message: z.string(),
      data: z.unknown().optional().meta({ description: 'What the node tells besides.' }),
    })
    .optional()
    .meta({ description: "A node's own error, or why the commitment was not seen." }),
  status: z
    .enum(commitments)
    .nullable()
    .meta({ description: 'What it has come to; null when nobody saw it land.' }),
});

async function sendOne(transaction: SignedTransaction, chain: Chain, context: Context): Promise<Submission> {
  try {
    await sendTransaction(chain, transaction);
    return { transaction, failure: null };
  } catch (thrown) {
    if (!(thrown instanceof Failure) || context.caller.signal.aborted) throw thrown;
    const isFinal = thrown instanceof NodeRefusal || isUnsubmitted(thrown);
    return { transaction, failure: isFinal ? thrown : null };
  }
}

/** One that is there twice is sent once. */
async function sendAll(
  all: readonly SignedTransaction[],
  chain: Chain,
  context: Context,
): Promise<Submission[]> {
  const different = new Map(all.map((transaction) => [transaction.text, transaction]));
  const submissions = await chain.each([...different.values()], (transaction) =>
    sendOne(transaction, chain, context),
  );
  const [first] = submissions;
  // Nobody can have taken anything, nor refused it: there is no node.
  const isLost = ({ failure }: Submission): boolean => failure !== null && !(failure instanceof NodeRefusal);
  if (first?.failure && submissions.every(isLost)) throw first.failure;
  const byText = new Map(submissions.map((submission) => [submission.transaction.text, submission]));
  return all.map(({ text }) => byText.get(text) as Submission);
}

/**
 * From where on blockhashes that are known by now may have expired: that of the newest one. One call for all, none when
 * nothing that may have been taken stands on a blockhash.
 * @returns null when nobody says: then only time ends the wait.
 */
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

/** A chain's error in words, as far as it is one that has some. */
function reasonOf(err: JsonValue): string {
  try {
    return displayTransactionError(err as TransactionError);
  } catch {
    return 'with an error of another kind';
  }
}

function errorOf(failure: Failure, data?: JsonValue): NodeError {
  if (failure instanceof NodeRefusal) return failure.error;
  return { code: failure.row.rpc, message: failure.text, ...(data === undefined ? {} : { data }) };
}

/** When the time of the request is over first, it is told what is known of what was sent. */
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

/** Source: spec, "REST"; rest-api.md §2.20. */
export const sendManyTxns = endpoint({
  verb: 'POST',
  paths: ['/sol/v1/transaction/send_many_txns'],
  group: 'transaction',
  name: 'transaction/send_many_txns',
  summary: 'Sends up to 100 signed transactions and waits until they have come to a commitment',
  description:
    'All are sent at once: one that needs another to have landed belongs into a later request. The answer has one ' +
    'entry for each in the order of the request, when each has come to the commitment, was refused, has expired, or ' +
    'was waited for as long as the service waits (90 seconds unless the operator says otherwise; one on a durable ' +
    'nonce never expires). `error` is there for those that were refused, that ran and failed (`data.err` is the ' +
    "chain's error), and that were not seen to reach the commitment. One of which no node said whether it took it is " +
    'waited for as well: it may land. When one of them is no transaction, none is sent.',
  from: 'body',
  failures: ofChain,
  fields: z.object({
    network: network(),
    encoded_transactions: list(
      signedTransaction('A signed transaction in base64.'),
      TRANSACTIONS_MAX,
      'Signed transactions in base64.',
    ),
    commitment: oneOf(commitments, 'finalized', 'What each is to come to before the answer is given.'),
  }),
  result: z.array(outcome),
  async answer({ network: name, encoded_transactions: all, commitment: level }, context) {
    const { caller, services } = context;
    const chain = context.chain(name);
    const submissions = await sendAll(all, chain, context);
    const height = await lastValidBlockHeight(chain, submissions);
    const wait = async ({ transaction, failure }: Submission): Promise<TransactionOutcome> => {
      if (failure !== null) return { error: errorOf(failure), status: null };
      const { signature, blockhash } = transaction;
      const request = {
        network: name,
        signature,
        commitment: level,
        blockhash,
        lastValidBlockHeight: height,
      };
      return toOutcome(await services.confirmations.wait(request, caller.signal).catch(toUnconfirmed));
    };
    const outcomes = await Promise.all(submissions.map(wait));
    return {
      message: 'Transactions sent successfully',
      result: outcomes.map((one, at) => ({
        id: at + 1,
        signature: submissions[at]?.transaction.signature ?? '',
        ...one,
      })),
    };
  },
});
