import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import type { Signature } from '../../../../src/solana/signature.ts';
import type { Slot } from '../../../../src/solana/units.ts';

/** Errors of unavailable history. Source: Agave rpc-client-api `custom_error.rs`; reference §2.2. */

export const blockCleanedUp = (slot: Slot, firstAvailable: Slot): RpcError =>
  new RpcError(
    -32001,
    `Block ${slot} cleaned up, does not exist on node. First available block: ${firstAvailable}`,
  );

export const blockNotAvailable = (slot: Slot): RpcError =>
  new RpcError(-32004, `Block not available for slot ${slot}`);

export const slotSkipped = (slot: Slot): RpcError =>
  new RpcError(-32007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);

export const unsupportedTransactionVersion = (version: number): RpcError =>
  new RpcError(
    -32015,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  );

export const filterTransactionNotFound = (signature: Signature): RpcError =>
  new RpcError(-32020, `Transaction ${signature} not found`);

/** @param position - slot and height of the bank, and the height at which all rewards will have been paid. */
export const epochRewardsPeriodActive = (
  position: Readonly<{ currentBlockHeight: bigint; rewardsCompleteBlockHeight: bigint; slot: Slot }>,
): RpcError => new RpcError(-32017, `Epoch rewards period still active at slot ${position.slot}`, position);
