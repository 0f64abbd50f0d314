import type { JsonValue } from '../../base/json.ts';
import { at, exactly } from '../rpc/parameters.ts';
import { readU64 } from '../rpc/serde.ts';
import { invalidParams } from '../rpc-error.ts';

/** The parameter of every `…Unsubscribe`: the subscription's id, a u64. */
export const parseUnsubscribe = (params: JsonValue | undefined): bigint => at(exactly(params, 1), 0, readU64);

/** The answer to an id that the connection does not hold, or holds no longer. Source: Agave rpc_pubsub.rs. */
export const invalidSubscriptionId = () => invalidParams('Invalid subscription id.');
