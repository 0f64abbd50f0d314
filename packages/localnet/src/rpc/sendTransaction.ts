import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import {
  parseSendTransaction,
  type SendTransactionResult,
} from '../../../../src/protocol/rpc/sendTransaction.ts';
import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import { encodeReturnData } from '../../../../src/solana/encoding/ui-meta.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import {
  displayTransactionError,
  type TransactionError,
} from '../../../../src/solana/transaction/transaction-error.ts';
import type { Bank, LocalNode, Simulation } from '../node.ts';
import { bankFor } from './context.ts';
import { decodeTransactionText, requireSanitized } from './decode-wire.ts';
import { queueFull, requireHealthy } from './getHealth.ts';

/** `data` of error -32002: the simulation without its large members. */
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
 * Runs a transaction or queues it for a block with capacity. The result is its first signature, whatever the
 * outcome, as on a real node. Check order as in Agave; reference §1.10.
 * @throws RpcError -32603 if the queue is full. Agave drops the transaction silently, but has already sent it
 * once; here no other node would have it.
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
  // A leader would drop a transaction with trailing bytes.
  const sent = hasTail ? 'taken' : await node.send(transaction, maxRetries ?? undefined);
  if (sent === 'queue full') throw queueFull();
  const [signature] = transaction.signatures;
  if (signature === undefined) throw new Error('sanitized transaction without signature');
  return signature;
}
