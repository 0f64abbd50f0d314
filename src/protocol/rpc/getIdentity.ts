import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { noParameters } from './parameters.ts';

export type GetIdentityParams = null;
/** The node's own key. */
export type GetIdentityResult = Readonly<{ identity: Address }>;

/** No parameters. */
export function parseGetIdentity(params: JsonValue | undefined): GetIdentityParams {
  noParameters(params);
  return null;
}
