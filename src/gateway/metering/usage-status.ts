/** In this order: a result, a JSON-RPC error from the node, a rejection by a limit, and failures by cause. */
export const usageStatuses = [
  'ok',
  'rpcError',
  'limited',
  'client',
  'gateway',
  'capacity',
  'upstream',
] as const;
export type UsageStatus = (typeof usageStatuses)[number];
