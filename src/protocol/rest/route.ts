import type { JsonValue, WritableJson } from '../../base/json.ts';
import type { Network } from '../call.ts';
import type { Failure } from '../errors.ts';
import type { Caller, LimitStatus } from '../request-handler.ts';

/** Endpoints in a group share one rate limit per key family. Source: spec, "Limits"; rest-api.md §1. */
export const endpointGroups = ['wallet', 'nft', 'token', 'transaction', 'storage', 'metadata'] as const;
export type EndpointGroup = (typeof endpointGroups)[number];

export function groupOfPath(path: string): EndpointGroup | null {
  const [, name] = /^\/sol\/v\d\/(?:semi_)?([a-z]+)\//.exec(path) ?? [];
  return endpointGroups.find((group) => group === name) ?? null;
}

export type RestVerb = 'GET' | 'POST';

/** An uploaded file. The handler must consume or destroy `bytes`. */
export type Upload = Readonly<{
  name: string | null;
  /** Content type, as sent by the client. */
  type: string;
  /** Throws a Failure if the request is aborted or the file is too large. */
  bytes: AsyncIterable<Uint8Array>;
}>;

export type RestInput = Readonly<{
  query: ReadonlyMap<string, readonly string[]>;
  body: JsonValue | undefined;
  /** null for JSON routes. */
  file: Upload | null;
}>;

export type RestCaller = Readonly<{
  /** Key family that owns stored data. */
  ownerId: string;
  /** Aborted when the client disconnects or the request times out. */
  signal: AbortSignal;
  /** @throws NodeRejection for a node's error; Failure if no node responds. */
  request(network: Network, method: string, params: readonly WritableJson[]): Promise<JsonValue>;
  /** @throws Failure NETWORK_FORBIDDEN. */
  useNetwork?(network: Network): void;
  countCall?(): void;
}>;

export type RestResponse = Readonly<{ message: string; result: WritableJson }>;

export type RestRoute = Readonly<{
  verb: RestVerb;
  /** The path, such as `/sol/v1/wallet/balance`, followed by its aliases. */
  paths: readonly [string, ...string[]];
  group: EndpointGroup;
  /** Name under which usage is counted, such as `wallet/balance`. */
  name: string;
  /** `json`: a JSON body or no body; also used for GET. `upload`: multipart with a file. */
  bodyType: 'json' | 'upload';
  /** Responses contain private keys and must not be stored. */
  holdsSecrets?: boolean;
  /** @throws Failure; for invalid fields, InvalidFields. */
  handle(input: RestInput, caller: RestCaller): Promise<RestResponse>;
}>;

export type RestRequest = Caller &
  Readonly<{
    route: Pick<RestRoute, 'name' | 'group' | 'bodyType' | 'holdsSecrets'>;
    /** Reads the body and runs the endpoint. @returns the response envelope. @throws Failure */
    execute: (caller: RestCaller) => Promise<Buffer>;
    /** Bytes read so far. */
    bytesIn: () => number;
  }>;

export type RestOutcome = Readonly<
  ({ body: Buffer; failure: null } | { body: null; failure: Failure }) & LimitStatus & { calls: number }
>;

export interface RestHandler {
  /** Never rejects: failures are part of the outcome. */
  serve(request: RestRequest, signal: AbortSignal): Promise<RestOutcome>;
}
