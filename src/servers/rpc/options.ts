import type { Network } from '../../protocol/call.ts';
import { type EnvelopeLimits, envelopeLimits } from '../../protocol/request-envelope.ts';
import { noProxies, type TrustedProxies } from '../client-address.ts';

export type RpcServerOptions = Readonly<{
  path: string;
  network: Network;
  /** Networks that a request may select. */
  served: () => readonly Network[];
  bodyMaxBytes: number;
  /** Maximum memory of bodies of all requests; above it, requests get OVERLOADED. */
  bodiesMaxBytes: number;
  /** Maximum memory of unsent responses; above it, calls get OVERLOADED. */
  responsesMaxBytes: number;
  /** Maximum memory of the unsent responses of one batch; further calls get BATCH_ANSWER_TOO_LARGE. */
  batchResponsesMaxBytes: number;
  batchConcurrency: number;
  envelope: EnvelopeLimits;
  proxies: TrustedProxies;
}>;

export const rpcServerOptions: RpcServerOptions = {
  path: '/v1/rpc',
  network: 'mainnet-beta',
  served: () => ['mainnet-beta'],
  bodyMaxBytes: 1024 * 1024,
  bodiesMaxBytes: 256 * 1024 * 1024,
  responsesMaxBytes: 512 * 1024 * 1024,
  batchResponsesMaxBytes: 128 * 1024 * 1024,
  batchConcurrency: 8,
  envelope: envelopeLimits,
  proxies: noProxies,
};
