import type { Network } from '../protocol/call.ts';
import type { Failure } from '../protocol/errors.ts';
import { networkNotServed } from '../protocol/network-not-served.ts';

const PARAMETER = 'network';

/** The query parameter `network`; null when it is absent. */
export const networkIn = (query: string): string | null =>
  query.includes(PARAMETER) ? new URLSearchParams(query).get(PARAMETER) : null;

/** The failure for a network that is not served; null for a served one or none. */
export const networkRefusal = (
  named: string | null | undefined,
  served: readonly Network[],
): Failure | null =>
  named == null || served.some((network) => network === named) ? null : networkNotServed(named, served);
