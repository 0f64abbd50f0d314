import type { NodeSettings } from '../../nodes/node-seal.ts';
import { ApiError } from '../api-error.ts';

const addressesOf = ({ url, ws, grpc }: NodeSettings): string[] =>
  [url, ws, grpc].filter((address) => address !== null);

/** Who gets what is sent there, and whether others can read it on its way: the same for http and ws. */
const originOf = (address: string): string => new URL(address.replace(/^ws/i, 'http')).origin;

const REMEDY =
  'another host, port or scheme does not get the headers that were kept for the one before: give them again, or {} for none';

/**
 * Headers are credentials that are shown to nobody: whoever may change where a node is must not have them sent to a
 * place of their own.
 * @throws ApiError 422
 */
export function checkHeaderTargets(before: NodeSettings, after: NodeSettings, areGiven: boolean): void {
  if (areGiven || Object.keys(before.headers).length === 0) return;
  const previousOrigins = new Set(addressesOf(before).map(originOf));
  if (addressesOf(after).every((address) => previousOrigins.has(originOf(address)))) return;
  throw new ApiError(422, 'INVALID_FIELDS', `headers: ${REMEDY}`, { fields: { headers: REMEDY } });
}
