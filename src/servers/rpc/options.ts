import type { Network } from '../../protocol/call.ts';
import { envelopeLimits } from '../../protocol/request-envelope.ts';
import { noProxies } from '../client-address.ts';
import { noCompression } from '../compression.ts';

export const rpcServerOptions = {
  path: '/v1/rpc',
  network: 'mainnet-beta' as Network,
  /** Networks that a request may select. */
  served: (): readonly Network[] => ['mainnet-beta'],
  bodyMaxBytes: 1024 * 1024,
  /** Maximum memory for the bodies of all requests; above this, requests get OVERLOADED. */
  bodiesMaxBytes: 256 * 1024 * 1024,
  /** Maximum memory for unsent responses; above this, calls get OVERLOADED. */
  responsesMaxBytes: 512 * 1024 * 1024,
  /** Maximum memory for the responses of one batch; further calls get BATCH_ANSWER_TOO_LARGE. */
  batchResponsesMaxBytes: 128 * 1024 * 1024,
  batchConcurrency: 8,
  envelope: envelopeLimits,
  compression: noCompression,
  proxies: noProxies,
};

export type RpcServerOptions = Readonly<typeof rpcServerOptions>;
