import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { invalidParams, RpcError } from '../../../../src/protocol/rpc-error.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { synthesizedSysvars } from '../bank/sysvar-accounts.ts';
import type { LedgerControls } from './ledger-controls.ts';

/** @throws RpcError */
export type TestMethod = (
  controls: LedgerControls,
  params: JsonValue | undefined,
) => WritableJson | Promise<WritableJson>;

/** Error of Surfpool for what is impossible now: the reason is in `data`. */
export const impossible = (reason: string): RpcError => new RpcError(-32603, 'Internal error', reason);

/** @throws RpcError -32602 for a sysvar that follows from the chain, so that a change would have no effect. */
export function requireSettable(address: Address): void {
  if (synthesizedSysvars.has(address)) {
    throw invalidParams(`Invalid param: sysvar ${address} follows from the chain; use surfnet_timeTravel`);
  }
}
