import type { z } from 'zod';
import { Chain } from '../decoding/chain/chain.ts';
import type { NftDas } from '../decoding/nft/nft.ts';
import type { Network } from '../protocol/call.ts';
import type { Commitment } from '../protocol/commitment.ts';
import type { FailureCode } from '../protocol/errors.ts';
import type { EndpointName } from '../protocol/rest/endpoint-names.ts';
import type { EndpointGroup, RestCaller, RestVerb, Upload } from '../protocol/rest/route.ts';
import type { Services } from './services.ts';

/** What an endpoint has to do its work with. */
export type Context = Readonly<{
  caller: RestCaller;
  services: Services;
  /** Reads a network as the caller. @param commitment - of what is read; `finalized` where nothing is said. */
  chain(network: Network, commitment?: Commitment): Chain;
  /** The part `file` of a multipart body; null where the endpoint takes none. */
  file: Upload | null;
}>;

/**
 * One endpoint of the REST interface, declared once: what is asked, what is answered, and how. Routes, validation and
 * OpenAPI follow from it.
 */
export type Endpoint<Fields extends z.ZodType = z.ZodType, Result extends z.ZodType = z.ZodType> = Readonly<{
  verb: RestVerb;
  /** The path of the interface first; then those that its clients use besides. */
  paths: readonly [string, ...string[]];
  group: EndpointGroup;
  /** What it is counted as and called in OpenAPI: `wallet/balance`. */
  name: EndpointName;
  /** A line for OpenAPI. */
  summary: string;
  /** What else a caller should know, in Markdown. */
  description?: string;
  /**
   * Where the fields come from. `query`: behind the `?`. `body`: a JSON body. `either`: a JSON body, also with GET, or
   * behind the `?`; the body wins. `upload`: a multipart body, and nothing else.
   */
  from: 'query' | 'body' | 'either' | 'upload';
  /** Answers hold what opens a wallet: the request log keeps none of them. */
  holdsSecrets?: true;
  /** What it may fail with besides what any endpoint may (`failuresOf`). */
  failures: readonly FailureCode[];
  /** An object of the builders in fields.ts. */
  fields: Fields;
  /** The shape of `result`; also the promise that tests hold answers to. */
  result: Result;
  answer(
    fields: z.output<Fields>,
    context: Context,
  ): Promise<Readonly<{ message: string; result: z.input<Result> }>>;
}>;

/** Declares an endpoint: the types of fields and result follow from their schemas. */
export const endpoint = <Fields extends z.ZodType, Result extends z.ZodType>(
  declared: Endpoint<Fields, Result>,
): Endpoint => declared as unknown as Endpoint;

/** Servers of DAS as one request asks them: its calls to them are counted with those to nodes. */
const countedDas = (caller: RestCaller, services: Services): NftDas => ({
  has: (network) => services.das.has(network),
  request: (...args) => {
    caller.countCall?.();
    return services.das.request(...args);
  },
});

/** The context of one request. */
export const contextOf = (caller: RestCaller, services: Services, file: Upload | null): Context => ({
  caller,
  services: { ...services, das: countedDas(caller, services) },
  chain: (network, commitment) => new Chain(network, caller, commitment),
  file,
});
