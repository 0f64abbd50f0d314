import type { JsonValue, WritableJson } from '../../base/json.ts';
import type { Network } from '../call.ts';
import type { Failure } from '../errors.ts';
import type { Caller, LimitStatus } from '../request-handler.ts';

/**
 * What servers and the gateway know of the REST interface: where it is asked, what is taken from a request, and that
 * an answer comes. What each endpoint means is in `endpoints/`.
 */

/** What shares one rate limit per key family. Source: spec, "Limits"; rest-api.md §1. */
export const endpointGroups = ['wallet', 'nft', 'token', 'transaction', 'storage', 'metadata'] as const;
export type EndpointGroup = (typeof endpointGroups)[number];

/** The group that a path counts in, an alias as much as any other; null for what is no path of the interface. */
export function groupOfPath(path: string): EndpointGroup | null {
  const [, name] = /^\/sol\/v\d\/(?:semi_)?([a-z]+)\//.exec(path) ?? [];
  return endpointGroups.find((group) => group === name) ?? null;
}

export type RestVerb = 'GET' | 'POST';

/** A file that is being uploaded. Whoever takes it reads it to its end or destroys it. */
export type Upload = Readonly<{
  /** As the client calls it; null when it does not. */
  name: string | null;
  /** Its media type, as the client says. */
  type: string;
  /** Its bytes as they come. Throws a Failure when the request breaks off or the file is larger than allowed. */
  bytes: AsyncIterable<Uint8Array>;
}>;

/** What a request brings, before anything is known of what it should bring. */
export type RestInput = Readonly<{
  /** Parameters behind the `?`, each with all of its values in order. */
  query: ReadonlyMap<string, readonly string[]>;
  /** The JSON body; undefined when there is none. */
  body: JsonValue | undefined;
  /** The part `file` of a multipart body; null where the route takes none. */
  file: Upload | null;
}>;

/** Who asks, and the one way from an endpoint to the chain. */
export type RestCaller = Readonly<{
  /** The key family: what is kept for a customer is kept under it. */
  ownerId: string;
  /** Aborted when the caller has left or the time of the request is over. */
  signal: AbortSignal;
  /**
   * Asks a node of the network, as the caller.
   * @returns the `result` of the answer.
   * @throws NodeRefusal when the node answers with an error; Failure when none answers.
   */
  request(network: Network, method: string, params: readonly WritableJson[]): Promise<JsonValue>;
  /** Says which network the request is about. @throws Failure NETWORK_FORBIDDEN: the caller's key is not for it. */
  useNetwork?(network: Network): void;
  /** Counts a call for the request that goes another way: to a server of the Digital Asset Standard API. */
  countCall?(): void;
}>;

/** What an endpoint says when all went well: two members of the envelope. */
export type RestResponse = Readonly<{ message: string; result: WritableJson }>;

/** One endpoint, as servers see it. */
export type RestRoute = Readonly<{
  verb: RestVerb;
  /** The path of the interface, such as `/sol/v1/wallet/balance`, and others that lead to the same. */
  paths: readonly [string, ...string[]];
  group: EndpointGroup;
  /** What it is counted as: `wallet/balance`. */
  name: string;
  /** A JSON body (also with GET, where a client sends one), or a multipart body with a file. */
  bodyType: 'json' | 'upload';
  /** Answers hold what opens a wallet: nobody keeps any of them. */
  holdsSecrets?: boolean;
  /** @throws Failure, of which InvalidFields names the fields of the request that are wrong. */
  handle(input: RestInput, caller: RestCaller): Promise<RestResponse>;
}>;

/** A request at the door, of which only the head has been read. */
export type RestRequest = Caller &
  Readonly<{
    route: Pick<RestRoute, 'name' | 'group' | 'bodyType' | 'holdsSecrets'>;
    /** Reads what else there is, and answers. @returns the bytes of the envelope. It throws what goes wrong. */
    execute: (caller: RestCaller) => Promise<Buffer>;
    /** Bytes of the body that were read so far, for metering. */
    bytesIn: () => number;
  }>;

/** How a request ended. */
export type RestOutcome = Readonly<
  ({ body: Buffer; failure: null } | { body: null; failure: Failure }) &
    LimitStatus & {
      /** How many calls to nodes were made for it. */
      calls: number;
    }
>;

/** What stands behind the REST server: the way of a request, which authenticates, limits, works and meters. */
export interface RestHandler {
  /** @param leaving - aborted when the caller has left. Never rejects: what went wrong is in the outcome. */
  serve(request: RestRequest, signal: AbortSignal): Promise<RestOutcome>;
}
