import type { Network } from '../protocol/call.ts';
import { type Failure, networkNotServed } from '../protocol/errors.ts';

const PARAMETER = 'network';

/** What the query parameter `network` says; null when it is absent. */
export const networkIn = (query: string): string | null =>
  query.includes(PARAMETER) ? new URLSearchParams(query).get(PARAMETER) : null;

/** Why a request for that network is refused; null when it is not. */
export const networkRefusal = (
  named: string | null | undefined,
  served: readonly Network[],
): Failure | null =>
  named == null || served.some((network) => network === named) ? null : networkNotServed(named, served);
