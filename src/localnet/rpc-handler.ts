import type { JsonValue, WritableJson } from '../base/json.ts';
import type { LocalNode } from './node.ts';

/**
 * Answers one JSON-RPC method from the embedded ledger.
 * @throws RpcError for what Agave would answer with an error.
 */
export type RpcHandler = (
  node: LocalNode,
  params: JsonValue | undefined,
) => WritableJson | Promise<WritableJson>;
