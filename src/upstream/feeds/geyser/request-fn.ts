import type { WritableJson } from '../../../base/json.ts';
import type { MethodName } from '../../../protocol/methods.ts';

/**
 * Puts a question to the nodes of the network.
 * @returns the raw result.
 * @throws whatever says that nobody answered, or not with a result.
 */
export type RequestFn = (method: MethodName, params: WritableJson, signal?: AbortSignal) => Promise<Buffer>;
