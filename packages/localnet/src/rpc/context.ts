import type { WritableJson } from '../../../../src/base/json.ts';
import type { ContextConfig } from '../../../../src/protocol/rpc/parameters.ts';
import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import type { Bank, LocalNode } from '../node.ts';
import { VERSION } from '../version.ts';

export const withContext = (bank: Bank, value: WritableJson): WritableJson => ({
  context: { apiVersion: VERSION, slot: bank.slot },
  value,
});

/** @throws RpcError -32016 with `{contextSlot}` below `minContextSlot`. */
export function bankFor(node: LocalNode, config: ContextConfig): Bank {
  const bank = node.bank(config.commitment);
  if (config.minContextSlot !== null && bank.slot < config.minContextSlot) {
    throw new RpcError(-32016, 'Minimum context slot has not been reached', { contextSlot: bank.slot });
  }
  return bank;
}
