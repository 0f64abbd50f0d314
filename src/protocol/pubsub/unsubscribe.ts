import { type JsonValue, parseJson } from '../../base/json.ts';
import { at, exactly } from '../rpc/parameters.ts';
import { readU64 } from '../rpc/serde.ts';
import { invalidParams } from '../rpc-error.ts';

/** More than an id takes, with room for spaces: what is longer is not parsed. */
const PARAMS_MAX_BYTES = 100;

/** The parameter of every `…Unsubscribe`: the subscription's id, a u64. */
export const parseUnsubscribe = (params: JsonValue | undefined): bigint => at(exactly(params, 1), 0, readU64);

/** The same of raw JSON; null when absent. */
export function parseRawUnsubscribe(params: Buffer | null): bigint {
  if (params === null) return parseUnsubscribe(undefined);
  if (params.length > PARAMS_MAX_BYTES) throw invalidSubscriptionId();
  return parseUnsubscribe(parseJson(params.toString('utf8')));
}

/** The answer to an id that the connection does not hold, or holds no longer. Source: Agave rpc_pubsub.rs. */
export const invalidSubscriptionId = () => invalidParams('Invalid subscription id.');
