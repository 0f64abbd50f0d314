import type { JsonValue, WritableJson } from '../../base/json.ts';
import { parseSendTransaction, type SendTransactionResult } from '../../protocol/rpc/sendTransaction.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import { encodeReturnData } from '../../solana/encoding/ui-meta.ts';
import { displayTransactionError } from '../../solana/transaction/display-error.ts';
import type { Transaction } from '../../solana/transaction/transaction.ts';
import type { TransactionError } from '../../solana/transaction/transaction-error.ts';
import type { Bank, LocalNode, Simulation } from '../node.ts';
import { bankFor } from './context.ts';
import { decodeTransactionText } from './decode-wire.ts';
import { queueFull, requireHealthy } from './health.ts';
import { requireSanitized } from './sanitize-request.ts';

/** `data` of -32002: what a simulation says, without what would take long to tell. */
const preflightData = (simulation: Simulation): WritableJson => ({
  accounts: null,
  err: simulation.err,
  fee: simulation.fee,
  innerInstructions: null,
  loadedAccountsDataSize: simulation.loadedAccountsDataSize,
  loadedAddresses: null,
  logs: simulation.logs,
  postBalances: null,
  postTokenBalances: null,
  preBalances: null,
  preTokenBalances: null,
  replacementBlockhash: null,
  returnData: simulation.returnData === null ? null : encodeReturnData(simulation.returnData),
  unitsConsumed: simulation.unitsConsumed,
});

const preflightFailure = (err: TransactionError, simulation: Simulation): RpcError =>
  new RpcError(
    -32002,
    `Transaction simulation failed: ${displayTransactionError(err)}`,
    preflightData(simulation),
  );

/** @throws RpcError -32002 when the transaction would fail. */
function preflight(node: LocalNode, transaction: Transaction, bank: Bank): void {
  const options = { sigVerify: true, replaceRecentBlockhash: false, innerInstructions: false };
  const simulation = node.simulate(transaction, bank, options);
  if (simulation.err !== null) throw preflightFailure(simulation.err, simulation);
}

/**
 * Runs a transaction, or lets it wait for a block that has room. The answer is its first signature, whatever then
 * becomes of it: a real node has only passed it on by then. Order of the checks as in Agave; reference §1.10.
 * @throws RpcError -32603 when too many transactions wait already. Agave says nothing then and sends the
 * transaction just once; here nobody else would have it.
 */
export async function sendTransaction(
  node: LocalNode,
  params: JsonValue | undefined,
): Promise<SendTransactionResult> {
  const { data, encoding, skipPreflight, preflightCommitment, minContextSlot, maxRetries } =
    parseSendTransaction(params);
  const { transaction, hasTail } = decodeTransactionText(data, encoding);
  const bank = bankFor(node, { commitment: preflightCommitment, minContextSlot });
  requireSanitized(transaction, bank);
  requireHealthy(node);
  if (!skipPreflight) preflight(node, transaction, bank);
  // A leader would throw it away.
  const sent = hasTail ? 'taken' : await node.send(transaction, maxRetries ?? undefined);
  if (sent === 'queue full') throw queueFull();
  const [signature] = transaction.signatures;
  if (signature === undefined) throw new Error('a sanitized transaction has a signature');
  return signature;
}
