import type { JsonValue } from '../../base/json.ts';
import type { Blockhash } from '../../solana/blockhash.ts';
import { noParameters } from './parameters.ts';

export type GetGenesisHashParams = null;
/** Names the network. */
export type GetGenesisHashResult = Blockhash;

/** No parameters. */
export function parseGetGenesisHash(params: JsonValue | undefined): GetGenesisHashParams {
  noParameters(params);
  return null;
}
