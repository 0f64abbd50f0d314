import type { JsonValue, WritableJson } from '../../../src/base/json.ts';
import type { LocalNode } from './node.ts';

/** @throws RpcError for Agave's errors. */
export type RpcHandler = (
  node: LocalNode,
  params: JsonValue | undefined,
) => WritableJson | Promise<WritableJson>;
