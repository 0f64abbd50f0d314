import type { MethodName } from '../protocol/methods.ts';
import { getBalance } from './rpc/getBalance.ts';
import { getSlot } from './rpc/getSlot.ts';
import type { RpcHandler } from './rpc-handler.ts';

/** The methods the embedded ledger answers, by wire name. */
export const rpcHandlers = {
  getBalance,
  getSlot,
} satisfies Partial<Record<MethodName, RpcHandler>>;
