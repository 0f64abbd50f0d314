import type { Network } from './call.ts';
import { Failure } from './errors.ts';

/** Characters of a name that are sent back: it may come from the client. */
const NAME_MAX_CHARS = 64;

/** The network of a request is unknown or has no node. */
export const networkNotServed = (named: string, served: readonly Network[]): Failure =>
  new Failure('NETWORK_NOT_SERVED', {
    facts: { network: named.slice(0, NAME_MAX_CHARS), served: served.join(', ') || 'none' },
  });
